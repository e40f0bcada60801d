import { randomUUID } from 'node:crypto';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import type { Refusal } from '../../domain/shared/error-catalogue.js';
import { type InvoiceId, invoiceStream, publicInvoiceId } from '../../domain/shared/ids.js';
import { addSeconds, isBefore } from '../../domain/shared/time.js';
import { EventLogUnavailable } from '../../ports/event-log.js';
import type { Claim, FingerprintMark, Fingerprints } from '../../ports/guards.js';
import type { CommandContext } from '../event-store/codec.js';
import { NO_STREAM } from '../event-store/event-store.js';
import { invoiceIdOfKey, invoiceIdOfReference } from '../hashes.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { AcceptDeps, AcceptResult, Requester, RequestKey } from './accept-deps.js';

/** An invoice about to be accepted; which id it gets depends on what it is reserved by. */
export type Candidate = {
  reference?: string;
  fingerprints: Fingerprints;
  claim: Claim;
  eventFor(invoiceId: InvoiceId): InvoiceEvent;
};

/**
 * A mark of the duplicate window whose invoice never came is given up after this long: more than the registry's
 * patience, an append's deadline and the time that a server goes on with it after we hung up.
 */
const ORPHANED_MARK_SECONDS = 20;

/** Tries the id that the request is reserved by; "expected none" decides who was first (design section 5). */
export const reserveAndAppend = async (
  candidate: Candidate,
  requester: Requester,
  idempotency: RequestKey | undefined,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const { mode, companyId } = requester;
  const { reference, claim, fingerprints } = candidate;
  for (let generation = 0; ; generation++) {
    const invoiceId = reservedId({ mode, companyId }, reference, idempotency, generation) ?? randomUUID();
    const stream = invoiceStream(mode, companyId, invoiceId);
    const mark = { stream, at: claim.acceptedAt };
    const placed = idempotency === undefined ? await placeMark(mark, fingerprints, deps) : 'not_mine';
    if (placed === 'duplicate') return { refused: { code: 'duplicate_suspected' } };
    const unmark = async (): Promise<void> => {
      if (placed === 'placed') await deps.duplicates.remove(fingerprints, stream);
    };
    const event = candidate.eventFor(invoiceId);
    const append = deps.store.append(stream, NO_STREAM, [event], contextOf(claim, requester));
    if ((await unlessUnavailable(append, unmark)).ok) return { accepted: acceptedInvoice(event) };
    const { state } = await loadInvoice(stream, deps.store);
    const standing = await standingAnswer(state, invoiceId, idempotency, claim, reference, deps);
    if (standing === 'next_generation') continue;
    await unmark();
    return standing;
  }
};

/** The invoice that an earlier try of this very request left behind, whatever the rules would say of it today. */
export const findOwnInvoice = async (
  reference: string | undefined,
  { mode, companyId }: Requester,
  idempotency: RequestKey,
  claim: Claim,
  deps: AcceptDeps,
): Promise<Invoice | undefined> => {
  for (let generation = 0; ; generation++) {
    const invoiceId = reservedId({ mode, companyId }, reference, idempotency, generation) ?? '';
    const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
    if (state.kind === 'none') return undefined;
    const standing = await standingAnswer(state, invoiceId, idempotency, claim, reference, deps);
    if (standing !== 'next_generation') return 'accepted' in standing ? standing.accepted : undefined;
  }
};

/** By reference, else by key and generation; undefined when nothing reserves an id and a random one will do. */
const reservedId = (
  { mode, companyId }: Pick<Requester, 'mode' | 'companyId'>,
  reference: string | undefined,
  idempotency: RequestKey | undefined,
  generation: number,
): InvoiceId | undefined => {
  if (reference !== undefined) return invoiceIdOfReference(mode, companyId, reference);
  return idempotency === undefined ? undefined : invoiceIdOfKey(mode, companyId, idempotency.keyHash, generation);
};

/** What was certainly not stored leaves no trace (reading 16). */
const unlessUnavailable = async <T>(append: Promise<T>, unmark: () => Promise<void>): Promise<T> => {
  try {
    return await append;
  } catch (error) {
    if (error instanceof EventLogUnavailable) await unmark().catch(() => undefined);
    throw error;
  }
};

/**
 * An unkeyed request marks the window before it appends. A standing mark refuses it, unless that mark's invoice never
 * came: then it is taken over once old enough that its own request cannot be on the way any more.
 */
const placeMark = async (
  mark: FingerprintMark,
  fingerprints: Fingerprints,
  deps: AcceptDeps,
): Promise<'placed' | 'not_mine' | 'duplicate'> => {
  const youngerThan = addSeconds(mark.at, -deps.windows.duplicateSeconds);
  const standing = await deps.duplicates.place(fingerprints, mark, youngerThan);
  if (standing === undefined) return 'placed';
  const { state } = await loadInvoice(standing.stream, deps.store);
  if (state.kind !== 'none') return 'duplicate';
  if (standing.stream === mark.stream) return 'not_mine';
  const orphaned = isBefore(addSeconds(standing.at, ORPHANED_MARK_SECONDS), mark.at);
  const takeOver = () => deps.duplicates.takeOver(fingerprints, standing, mark, youngerThan);
  return orphaned && (await takeOver()) ? 'placed' : 'duplicate';
};

/** The stream was there first: ours from an earlier try, a replay, another body, an expired key, or simply taken. */
const standingAnswer = async (
  state: InvoiceState,
  invoiceId: InvoiceId,
  idempotency: RequestKey | undefined,
  claim: Claim,
  reference: string | undefined,
  deps: AcceptDeps,
): Promise<AcceptResult | 'next_generation'> => {
  const standing = state.kind === 'invoice' ? state : undefined;
  const sameKey = idempotency !== undefined && standing?.facts.idempotency?.keyHash === idempotency.keyHash;
  const keyAlive = standing !== undefined && isKeyAlive(standing, claim, deps);
  if (sameKey && keyAlive) {
    const { mode, companyId, idempotency: held } = standing.facts;
    const { keyHash, plainBodyHash } = idempotency;
    const stored = held?.bodyHash ?? '';
    const verdict = await deps.hashes.compareBody(stored, { mode, companyId, keyHash }, plainBodyHash);
    if (verdict === 'same') return { accepted: standing };
    return { refused: verdict === 'other' ? { code: 'idempotency_key_reuse' } : bodyNotComparable(invoiceId) };
  }
  if (reference === undefined) return 'next_generation';
  const holder = publicInvoiceId(state.kind === 'reference_taken' ? state.invoiceId : invoiceId);
  const message = `Já existe uma nota da empresa com esta reference, mesmo que tenha falhado: ${holder}. Use outra reference para uma nota nova.`;
  return { refused: { code: 'nfse.reference_in_use', message } };
};

/** A repeated request must not be sent under another key on our advice: the invoice of its first try may stand. */
export const bodyNotComparable = (invoiceId: InvoiceId | undefined): Refusal => {
  const first = invoiceId === undefined ? 'o primeiro pedido' : `a nota ${publicInvoiceId(invoiceId)}`;
  const message = `Esta Idempotency-Key já foi usada para ${first}, e não é mais possível comparar os dois corpos. Consulte a nota antes de enviar outra; só para outra venda use uma chave nova.`;
  return { code: 'idempotency_key_reuse', message };
};

const isKeyAlive = ({ facts }: Invoice, claim: Claim, { windows }: AcceptDeps): boolean =>
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
