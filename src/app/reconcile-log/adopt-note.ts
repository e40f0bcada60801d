import { buildDps } from '../../domain/dps/build-dps.js';
import { isCustomerNameMissing } from '../../domain/dps/toma.js';
import { recordAuthorized } from '../../domain/invoice/record-issuance.js';
import { type InvoiceState, lastOf } from '../../domain/invoice/state.js';
import { invoicePrefix, type StreamName } from '../../domain/shared/ids.js';
import { SchemaViolation } from '../../ports/documents.js';
import { authorizedFrom, compareNote, sameContent } from '../issuer/authorized.js';
import { workerContext } from '../issuer/record.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';
import type { ReconcileDeps, Walk } from './reconcile-deps.js';
import type { FoundNote } from './walk-series.js';

export type Candidate = LoadedInvoice & { stream: StreamName };

/** The open invoices of one company and mode, each read once. */
export const candidatesOf = async (
  { mode, companyId }: Walk,
  open: readonly StreamName[],
  { store }: Pick<ReconcileDeps, 'store'>,
): Promise<readonly Candidate[]> => {
  const own = open.filter((stream) => stream.startsWith(`${invoicePrefix[mode]}${companyId}_`));
  const loaded: Candidate[] = [];
  for (const stream of own) loaded.push({ stream, ...(await loadInvoice(stream, store)) });
  return loaded;
};

/**
 * The open invoice whose note this is. The DPS is a pure function of what was accepted and its number (design section 6, 2), so
 * the one that gives the same digest under the note's number was sent under it, by events that the log has lost. Without this the
 * invoice would be sent again under the next number.
 */
export const invoiceOfNote = async (
  { number, note }: FoundNote,
  { mode, companyId, series }: Walk,
  candidates: readonly Candidate[],
  deps: ReconcileDeps,
): Promise<{ stream: StreamName; isKnown: boolean } | undefined> => {
  for (const { stream, state, events } of candidates) {
    if (state.kind !== 'invoice') continue;
    if (compareNote(state, note) === 'ours') return { stream, isKnown: true };
    const accepted = events.find((event) => event.type === 'InvoiceAccepted');
    if (accepted?.type !== 'InvoiceAccepted' || !sameContent(note, events)) continue;
    // Left out when its key is gone: nothing can be built of it, and it cannot be sent either.
    if ((accepted.data.description as string | undefined) === undefined) continue;
    if (isCustomerNameMissing(accepted.data.customer)) continue;
    const identity = await deps.identityOf({ mode, companyId });
    if (identity === undefined) continue;
    const dps = buildDps({ mode, series, number, accepted: accepted.data, currencyCode: deps.currencyCode });
    if (dps.id === note.dpsId && (await digestOf(dps.xml, identity, deps)) === note.dpsDigest)
      return { stream, isKnown: false };
  }
  return undefined;
};

const digestOf = async (
  xml: string,
  identity: Parameters<ReconcileDeps['signer']['signDps']>[1],
  { signer }: ReconcileDeps,
): Promise<string | undefined> => {
  try {
    return (await signer.signDps(xml, identity)).digest;
  } catch (error) {
    if (error instanceof SchemaViolation) return undefined;
    throw error;
  }
};

/** Records the note that was found as the invoice's outcome; false when an outcome stands meanwhile. */
export const adoptNote = async (
  stream: StreamName,
  { note }: Pick<FoundNote, 'note'>,
  deps: Pick<ReconcileDeps, 'store' | 'clock' | 'actor'>,
): Promise<boolean> => {
  for (;;) {
    const { state, version, events } = await loadInvoice(stream, deps.store);
    const decision = recordAuthorized(state, {
      ...authorizedFrom(note, lostAttempt(state), 'lookup', deps.clock.now()),
      attemptLost: true,
    });
    if ('stale' in decision) return false;
    if (decision.events.length === 0) return true;
    const context = workerContext(stream, 'reconcile_note', events[events.length - 1], deps);
    if ((await deps.store.append(stream, version, decision.events, context)).ok) return true;
  }
};

/** The one after those that the log knows: its event is among what was lost. */
const lostAttempt = (state: InvoiceState): number =>
  state.kind === 'invoice' ? (lastOf(state.attempts)?.attempt ?? 0) + 1 : 1;
