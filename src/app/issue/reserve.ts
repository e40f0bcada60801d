import { randomUUID } from 'node:crypto';
import type { IdempotencyMark, InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import { type InvoiceId, invoiceStream, publicInvoiceId } from '../../domain/shared/ids.js';
import { addSeconds, isBefore } from '../../domain/shared/time.js';
import type { Claim, FingerprintMark } from '../../ports/guards.js';
import type { CommandContext } from '../event-store/codec.js';
import { NO_STREAM } from '../event-store/event-store.js';
import { invoiceIdOfKey, invoiceIdOfReference } from '../hashes.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { AcceptDeps, AcceptResult, Requester } from './accept-deps.js';

/** An invoice about to be accepted; which id it gets depends on what it is reserved by. */
export type Candidate = {
  reference?: string;
  fingerprint: string;
  claim: Claim;
  eventFor(invoiceId: InvoiceId): InvoiceEvent;
};

/** A mark of the duplicate window whose invoice never came is given up after this long. */
const ORPHANED_MARK_SECONDS = 5;

/** Tries the id that the request is reserved by; "expected none" decides who was first (design section 5). */
export const reserveAndAppend = async (
  candidate: Candidate,
  requester: Requester,
  idempotency: IdempotencyMark | undefined,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const { mode, companyId } = requester;
  const { reference, claim } = candidate;
  for (let generation = 0; ; generation++) {
    const invoiceId =
      reference !== undefined
        ? invoiceIdOfReference(mode, companyId, reference)
        : idempotency !== undefined
          ? invoiceIdOfKey(mode, companyId, idempotency.keyHash, generation)
          : randomUUID();
    const stream = invoiceStream(mode, companyId, invoiceId);
    const mark = { stream, at: claim.acceptedAt };
    const placed = idempotency === undefined ? await placeMark(mark, candidate.fingerprint, deps) : 'not_mine';
    if (placed === 'duplicate') return { refused: { code: 'duplicate_suspected' } };
    const event = candidate.eventFor(invoiceId);
    const { ok } = await deps.store.append(stream, NO_STREAM, [event], contextOf(claim, requester));
    if (ok) return { accepted: acceptedInvoice(event) };
    const { state } = await loadInvoice(stream, deps.store);
    const standing = standingAnswer(state, invoiceId, idempotency, candidate, deps);
    if (standing === 'next_generation') continue;
    if (placed === 'placed') await deps.duplicates.remove(candidate.fingerprint, stream);
    return standing;
  }
};

/**
 * An unkeyed request marks the window before it appends. A standing mark refuses it, unless that mark's invoice never
 * came: then it is taken over once old enough that its own request cannot be on the way any more.
 */
const placeMark = async (
  mark: FingerprintMark,
  fingerprint: string,
  deps: AcceptDeps,
): Promise<'placed' | 'not_mine' | 'duplicate'> => {
  const standing = await deps.duplicates.place(fingerprint, mark, addSeconds(mark.at, -deps.windows.duplicateSeconds));
  if (standing === undefined) return 'placed';
  const { state } = await loadInvoice(standing.stream, deps.store);
  if (state.kind !== 'none') return 'duplicate';
  if (standing.stream === mark.stream) return 'not_mine';
  const orphaned = isBefore(addSeconds(standing.at, ORPHANED_MARK_SECONDS), mark.at);
  return orphaned && (await deps.duplicates.takeOver(fingerprint, standing, mark)) ? 'placed' : 'duplicate';
};

/** The stream was there first: ours from an earlier try, a replay, another body, an expired key, or simply taken. */
const standingAnswer = (
  state: InvoiceState,
  invoiceId: InvoiceId,
  idempotency: IdempotencyMark | undefined,
  candidate: Candidate,
  deps: AcceptDeps,
): AcceptResult | 'next_generation' => {
  const standing = state.kind === 'invoice' ? state : undefined;
  const sameKey = idempotency !== undefined && standing?.facts.idempotency?.keyHash === idempotency.keyHash;
  const keyAlive = standing !== undefined && isKeyAlive(standing, candidate, deps);
  if (sameKey && keyAlive) {
    return standing.facts.idempotency?.bodyHash === idempotency.bodyHash
      ? { accepted: standing }
      : { refused: { code: 'idempotency_key_reuse' } };
  }
  if (candidate.reference === undefined) return 'next_generation';
  const holder = publicInvoiceId(state.kind === 'reference_taken' ? state.invoiceId : invoiceId);
  const message = `Já existe uma nota da empresa com esta reference, mesmo que tenha falhado: ${holder}. Use outra reference para uma nota nova.`;
  return { refused: { code: 'nfse.reference_in_use', message } };
};

const isKeyAlive = ({ facts }: Invoice, { claim }: Candidate, { windows }: AcceptDeps): boolean =>
  facts.createdAt !== undefined && isBefore(claim.acceptedAt, addSeconds(facts.createdAt, windows.idempotencySeconds));

/** The invoice as the 202 shows it: folded from the very event that was stored. */
const acceptedInvoice = (event: InvoiceEvent): Invoice => {
  const state = evolve(initialInvoice, event);
  if (state.kind !== 'invoice') throw new Error('InvoiceAccepted gives an invoice');
  return state;
};

const contextOf = (claim: Claim, { mode, companyId, keyId, requestId }: Requester): CommandContext => ({
  commandId: claim.commandId,
  correlationId: requestId,
  causationId: requestId,
  actor: `apiKey:${keyId}`,
  mode,
  companyId,
  now: claim.acceptedAt,
  site: 'accept_invoice',
});
