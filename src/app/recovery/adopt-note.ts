import { invoicePrefix, type StreamName } from '../../domain/common/ids.js';
import { buildDps } from '../../domain/dps/build-dps.js';
import { isCustomerNameMissing } from '../../domain/dps/customer.js';
import { decideAuthorized } from '../../domain/invoice/decide-issuance.js';
import type { InvoiceState } from '../../domain/invoice/state.js';
import { SchemaViolation } from '../../ports/documents.js';
import { decideAndAppend } from '../issuing/decide-and-append.js';
import { authorizedFrom, compareNote, hasSameContent } from '../issuing/found-documents.js';
import { type LoadedInvoice, loadInvoice } from '../read/read-invoice.js';
import type { FoundNote, RecoveryDeps, SeriesToCompare } from './ask-series.js';

export type Candidate = LoadedInvoice & { stream: StreamName };

/** Those of these invoices that are of one company and mode, each read once. */
export const candidatesOf = async (
  { mode, companyId }: SeriesToCompare,
  streams: readonly StreamName[],
  { store }: Pick<RecoveryDeps, 'store'>,
): Promise<readonly Candidate[]> => {
  const own = streams.filter((stream) => stream.startsWith(`${invoicePrefix[mode]}${companyId}_`));
  const loaded: Candidate[] = [];
  for (const stream of own) loaded.push({ stream, ...(await loadInvoice(stream, store)) });
  return loaded;
};

/**
 * The invoice among the candidates that this note belongs to. The DPS is a pure function of the acceptance and its number (ADR 2), so the invoice that gives the
 * same digest under the note's number was sent under it, by events that the log has lost. Without this an open invoice would be sent again under the
 * next number.
 */
export const invoiceOfNote = async (
  { number, note }: FoundNote,
  { mode, companyId, series }: SeriesToCompare,
  candidates: readonly Candidate[],
  deps: RecoveryDeps,
): Promise<{ stream: StreamName; isKnown: boolean } | undefined> => {
  for (const { stream, state, events } of candidates) {
    if (state.kind !== 'invoice') continue;
    if (compareNote(state, note) === 'ours') return { stream, isKnown: true };
    const accepted = events.find((event) => event.type === 'InvoiceAccepted');
    if (accepted === undefined || !hasSameContent(note, events)) continue;
    const { description, customer } = accepted.data;
    // Without a description, whose key is gone, no DPS can be built, and the invoice cannot be sent either.
    if (description === undefined || isCustomerNameMissing(customer)) continue;
    const identity = await deps.identityOf({ mode, companyId });
    if (identity === undefined) continue;
    const content = { ...accepted.data, description };
    const dps = buildDps({ mode, series, number, accepted: content, currencyCode: deps.currencyCode });
    if (dps.id === note.dpsId && (await digestOf(dps.xml, identity, deps)) === note.digest)
      return { stream, isKnown: state.attempts.some(({ dpsId }) => dpsId === note.dpsId) };
  }
  return undefined;
};

const digestOf = async (
  xml: string,
  identity: Parameters<RecoveryDeps['signer']['signDps']>[1],
  { signer }: RecoveryDeps,
): Promise<string | undefined> => {
  try {
    return (await signer.signDps(xml, identity)).digest;
  } catch (error) {
    if (error instanceof SchemaViolation) return undefined;
    throw error;
  }
};

/** Records the found note as the outcome of the invoice; false when the invoice has another outcome meanwhile. Throws `StreamContended`. */
export const adoptNote = (
  stream: StreamName,
  { note }: Pick<FoundNote, 'note'>,
  deps: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<boolean> => {
  const at = deps.clock.now();
  return decideAndAppend(stream, 'reconcile_note', deps, (state) =>
    decideAuthorized(state, { ...authorizedFrom(note, lostAttempt(state), 'lookup', at), attemptLost: true }),
  );
};

/** The attempt after the last one in the log; its event is among those that were lost. */
const lostAttempt = (state: InvoiceState): number =>
  state.kind === 'invoice' ? (state.attempts.at(-1)?.attempt ?? 0) + 1 : 1;
