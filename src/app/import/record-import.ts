import { randomUUID } from 'node:crypto';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import { publicInvoiceId, type StreamName } from '../../domain/shared/ids.js';
import { addSeconds, isBefore } from '../../domain/shared/time.js';
import type { CompanyCommandDeps } from '../company/company-commands.js';
import { type EventStore, NO_STREAM } from '../event-store/event-store.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { Imported, Plan } from './plan-line.js';

export type ImportDeps = Pick<CompanyCommandDeps, 'store' | 'clock' | 'actor'> & { testRetentionSeconds: number };

/** How the log stands to a plan: nothing there yet, imported before, or taken by something else. */
export type Standing = { open: true } | { already: true } | { refused: string };

export const standingOf = async (plan: Plan, deps: Omit<ImportDeps, 'actor'>): Promise<Standing> => {
  const reserved = await reservationStanding(plan, deps.store);
  if ('refused' in reserved) return reserved;
  const invoice = await invoiceStanding(plan, deps);
  return 'already' in invoice && 'open' in reserved ? { open: true } : invoice;
};

/** The reference first: it is the promise that only one of several writers can get. Both appends expect nothing there. */
export const recordImport = async (plan: Plan, deps: ImportDeps): Promise<Standing> => {
  const { stream, data, reservation } = plan;
  const importedAt = deps.clock.now();
  if (reservation !== undefined) {
    const taken: InvoiceEvent = { type: 'ReferenceTaken', data: { invoiceId: data.invoiceId, takenAt: importedAt } };
    if (!(await appendFirst(reservation, taken, plan, deps))) {
      const standing = await reservationStanding(plan, deps.store);
      if ('refused' in standing) return standing;
    }
  }
  const imported: InvoiceEvent = { type: 'InvoiceImported', data: { ...data, importedAt } };
  return (await appendFirst(stream, imported, plan, deps)) ? { already: true } : invoiceStanding(plan, deps);
};

const appendFirst = async (
  stream: StreamName,
  event: InvoiceEvent,
  { data: { mode, companyId } }: Plan,
  { store, clock, actor }: ImportDeps,
): Promise<boolean> => {
  const commandId = randomUUID();
  const ids = { commandId, correlationId: commandId, causationId: commandId };
  const context = { ...ids, actor, mode, companyId, now: clock.now(), site: 'import_invoice' } as const;
  return (await store.append(stream, NO_STREAM, [event], context)).ok;
};

const reservationStanding = async ({ reservation, data }: Plan, store: EventStore): Promise<Standing> => {
  if (reservation === undefined) return { already: true };
  const { state } = await loadInvoice(reservation, store);
  if (state.kind === 'none') return { open: true };
  if (state.kind === 'reference_taken' && state.invoiceId === data.invoiceId) return { already: true };
  const holder = state.kind === 'reference_taken' ? state.invoiceId : undefined;
  return { refused: `reference is held by ${holder === undefined ? 'another invoice' : publicInvoiceId(holder)}` };
};

const invoiceStanding = async ({ stream, data }: Plan, deps: Omit<ImportDeps, 'actor'>): Promise<Standing> => {
  const { state, events } = await loadInvoice(stream, deps.store);
  if (state.kind === 'none') return { open: true };
  const first = events[0];
  if (first?.type === 'InvoiceImported' && sameContent(first.data, data)) return { already: true };
  if (state.kind === 'deleted')
    return isOver(data, deps) ? { already: true } : { refused: 'its life in test mode is over' };
  return { refused: `${publicInvoiceId(data.invoiceId)} is on record with other content` };
};

/**
 * A test invoice that came with an age beyond its life was imported and swept away: the same file again is no other one. Nor can one
 * without an age be, which lived from its import on.
 */
const isOver = ({ createdAt }: Imported, { clock, testRetentionSeconds }: Omit<ImportDeps, 'actor'>): boolean =>
  createdAt === undefined || !isBefore(clock.now(), addSeconds(createdAt, testRetentionSeconds));

/** The hash stands for the document: gzip may pack the same bytes in another way some day. */
const sameContent = (a: Imported & { importedAt?: string }, b: Imported): boolean => comparable(a) === comparable(b);

const comparable = ({ nfseXmlGzip: _gzip, importedAt: _at, ...data }: Imported & { importedAt?: string }): string =>
  sortedJson(data);
