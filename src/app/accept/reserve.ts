import { randomUUID } from 'node:crypto';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import {
  type InvoiceId,
  invoiceStream,
  type Mode,
  parseInvoiceStream,
  publicInvoiceId,
} from '../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import type { IdempotencyMark, InvoiceEvent } from '../../domain/invoice/events.js';
import { evolve } from '../../domain/invoice/evolve.js';
import { type Invoice, type InvoiceState, initialInvoice } from '../../domain/invoice/state.js';
import type { Fingerprints } from '../../ports/duplicate-window.js';
import { EventLogUnavailable } from '../../ports/event-log.js';
import type { Claim } from '../../ports/idempotency-keys.js';
import { type CommandContext, requestContext } from '../event-store/command-context.js';
import { AppendMayCome } from '../event-store/event-store.js';
import { invoiceIdOfKey, invoiceIdOfReference, isDerivedId } from '../event-store/hashes.js';
import { create } from '../event-store/transact.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { AcceptDeps, AcceptResult, ClaimedRequest } from './accept-deps.js';

/** An invoice about to be accepted. Its id depends on its reference or idempotency key. */
export type Candidate = ClaimedRequest & {
  fingerprints: Fingerprints;
  /** The key and the keyed hash of its body, as the event records them. */
  mark: IdempotencyMark | undefined;
  eventFor(invoiceId: InvoiceId): InvoiceEvent;
};

/**
 * After this long a request hardly appends any more: a mark of the duplicate window without an invoice is taken over, and a retry of a key may be
 * refused. That is longer than the time limit of the tax registry, the deadline of an append, and the time that a server may continue an append after
 * our connection ended. A frozen process or a commit that waits for a standby takes longer, so the stream decides which request was first.
 */
export const LATE_APPEND_SECONDS = 20;

/**
 * Appends the acceptance to the stream of the derived id. The append expects no stream, which decides which request was first
 * (docs/architecture.md#uniqueness).
 */
export const reserveAndAppend = async (candidate: Candidate, deps: AcceptDeps): Promise<AcceptResult> => {
  const { requester, idempotency } = candidate;
  const { mode, companyId } = requester;
  for (let use = 0; ; use++) {
    const reserved = reservedId(candidate, use);
    const own: Place = { invoiceId: reserved ?? randomUUID(), undo: async () => undefined };
    const place = idempotency === undefined ? await placeMark(own, reserved, candidate, deps) : own;
    if ('refused' in place) return place;
    const { invoiceId, undo } = place;
    const stream = invoiceStream(mode, companyId, invoiceId);
    const event = candidate.eventFor(invoiceId);
    const append = create(stream, event, contextOf(candidate), deps);
    if (await undoneIfNotStored(append, undo)) return { accepted: acceptedInvoice(event) };
    const { state } = await loadInvoice(stream, deps.store);
    // The stream has an event, so an empty answer is too old to decide anything.
    if (state.kind === 'none') throw new AppendMayCome();
    const earlier = await earlierAnswer(state, invoiceId, candidate, deps);
    if (earlier === 'next_use') continue;
    await undo();
    return earlier;
  }
};

/**
 * Accepts a request with an Idempotency-Key in one transaction: its key, the event and its mark (ADR 42). Undefined where the log cannot do that,
 * when the key or the id has been used, and while the outcome is open. A later claim of the key waits for a transaction that still holds the key.
 */
export const appendAtOnce = async (
  candidate: Candidate,
  { store }: Pick<AcceptDeps, 'store'>,
): Promise<AcceptResult | undefined> => {
  const { mode, companyId } = candidate.requester;
  const { claim, fingerprints, mark } = candidate;
  const invoiceId = reservedId(candidate, 0);
  if (store.appendGuarded === undefined || mark === undefined || invoiceId === undefined) return undefined;
  const stream = invoiceStream(mode, companyId, invoiceId);
  const event = candidate.eventFor(invoiceId);
  const { keyHash, bodyHash } = mark;
  const guards = { owner: { mode, companyId, keyHash }, bodyHash, claim, invoiceId, fingerprints };
  try {
    const { ok } = await store.appendGuarded(stream, event, contextOf(candidate), guards);
    return ok ? { accepted: acceptedInvoice(event) } : undefined;
  } catch (error) {
    if (error instanceof AppendMayCome) return undefined;
    throw error;
  }
};

/** With the claim's command id: a repeated request appends the very same event ids. */
const contextOf = ({ requester, claim }: ClaimedRequest): CommandContext =>
  requestContext(requester, 'accept_invoice', claim.commandId)(claim.acceptedAt);

/** The invoice that an earlier try of the same request accepted, whatever the rules would say today; undefined without such an invoice. */
export const findOwnInvoice = async (
  claimedRequest: ClaimedRequest,
  deps: AcceptDeps,
): Promise<Invoice | undefined> => {
  const { mode, companyId } = claimedRequest.requester;
  for (let use = 0; ; use++) {
    const invoiceId = reservedId(claimedRequest, use) ?? '';
    const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
    if (state.kind === 'none') return undefined;
    const earlier = await earlierAnswer(state, invoiceId, claimedRequest, deps);
    if (earlier !== 'next_use') return 'accepted' in earlier ? earlier.accepted : undefined;
  }
};

/**
 * The answer to a request that the rules refuse and whose reference has an invoice: a reference protects permanently, whatever the rules say today
 * (docs/contract.md IDEM-6). Undefined when the reference is free.
 */
export const answerOfReference = async (
  claimedRequest: ClaimedRequest,
  deps: AcceptDeps,
): Promise<AcceptResult | undefined> => {
  const { request, requester } = claimedRequest;
  if (request.reference === undefined) return undefined;
  const { mode, companyId } = requester;
  const invoiceId = invoiceIdOfReference(mode, companyId, request.reference);
  const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
  if (state.kind === 'none') return undefined;
  const earlier = await earlierAnswer(state, invoiceId, claimedRequest, deps);
  return earlier === 'next_use' ? undefined : earlier;
};

/** The id that the reference derives, else the key and which use of the key this is. Undefined without both: then a random id is used. */
const reservedId = (
  { request: { reference }, requester: { mode, companyId }, idempotency }: ClaimedRequest,
  use: number,
): InvoiceId | undefined => {
  if (reference !== undefined) return invoiceIdOfReference(mode, companyId, reference);
  return idempotency === undefined ? undefined : invoiceIdOfKey(mode, companyId, idempotency.keyHash, use);
};

/** Undoes what was done before an append that certainly stored nothing: a mark (docs/contract.md IDEM-5), or the claim of a key. */
export const undoneIfNotStored = async <T>(append: Promise<T>, undo: () => Promise<void>): Promise<T> => {
  try {
    return await append;
  } catch (error) {
    if (error instanceof EventLogUnavailable) await undo().catch(() => undefined);
    throw error;
  }
};

/** Where a request without a key may append. `undo` puts the window back as it was found, after an append that certainly stored nothing. */
type Place = { invoiceId: InvoiceId; undo(): Promise<void> };

/**
 * A request without a key marks the duplicate window before it appends, and an earlier mark refuses it. An old mark whose invoice was never accepted
 * is taken over with its invoice id: should the append of its request still come, the stream keeps the first of the two. Ids that a
 * reference or a key derives belong to it, so such a mark refuses until the window ends.
 */
const placeMark = async (
  own: Place,
  reserved: InvoiceId | undefined,
  { requester: { mode, companyId }, claim, fingerprints }: Candidate,
  { duplicates, windows, store }: AcceptDeps,
): Promise<Place | { refused: Refusal }> => {
  const at = claim.acceptedAt;
  const mark = { stream: invoiceStream(mode, companyId, own.invoiceId), at };
  const youngerThan = addSeconds(at, -windows.duplicateSeconds);
  const earlier = await duplicates.place(fingerprints, mark, youngerThan);
  if (earlier === undefined) return { ...own, undo: () => duplicates.remove(fingerprints, mark) };
  const { state } = await loadInvoice(earlier.stream, store);
  const earlierId = parseInvoiceStream(earlier.stream)?.invoiceId;
  if (state.kind !== 'none')
    return { refused: suspectedDuplicate(isYoung(state, youngerThan) ? earlierId : undefined) };
  if (earlier.stream === mark.stream) return own;
  const isAbandoned = isBefore(addSeconds(earlier.at, LATE_APPEND_SECONDS), at);
  // An invoice that may never be accepted is not named.
  const unnamed = { refused: suspectedDuplicate(undefined) };
  if (!isAbandoned || earlierId === undefined || reserved !== undefined || isDerivedId(earlierId)) return unnamed;
  const taken = { stream: earlier.stream, at };
  if (!(await duplicates.takeOver(fingerprints, earlier, taken, youngerThan))) return unnamed;
  const undo = async () => {
    await duplicates.takeOver(fingerprints, taken, earlier, youngerThan);
  };
  return { invoiceId: earlierId, undo };
};

/**
 * The answer when the stream exists already: ours from an earlier try, a replay, another body, an expired key, or a reference that is taken. An
 * imported invoice under the id of a key is the invoice of that key, taken over after the log had lost it. Its body is unknown.
 */
const earlierAnswer = async (
  state: InvoiceState,
  invoiceId: InvoiceId,
  { request, requester, idempotency, claim }: ClaimedRequest,
  deps: AcceptDeps,
): Promise<AcceptResult | 'next_use'> => {
  const earlier = state.kind === 'invoice' ? state : undefined;
  const sameKey = idempotency !== undefined && earlier?.facts.idempotency?.keyHash === idempotency.keyHash;
  const keyAlive = earlier !== undefined && isKeyAlive(earlier, claim, deps);
  if (sameKey && keyAlive) {
    const { mode, companyId, idempotency: held } = earlier.facts;
    const { keyHash, plainBodyHash } = idempotency;
    const stored = held?.bodyHash ?? '';
    const comparison = await deps.hashes.compareBody(stored, { mode, companyId, keyHash }, plainBodyHash);
    if (comparison === 'same') return { accepted: earlier };
    return { refused: comparison === 'other' ? otherBody(invoiceId) : bodyNotComparable(invoiceId) };
  }
  if (request.reference === undefined) {
    const isTakenOver = earlier?.origin.kind === 'imported' && keyAlive;
    return isTakenOver ? { refused: bodyNotComparable(invoiceId) } : 'next_use';
  }
  const holder = state.kind === 'reference_taken' ? state.invoiceId : invoiceId;
  return { refused: referenceInUse(holder, requester.mode) };
};

/**
 * Names the invoice that holds the reference (IDEM-6). In live mode `canceled` is also the status of a note that another note replaced, and only the
 * stamp of the PDF tells (PDF-3). In test mode a canceled invoice has no PDF, and the named one may be deleted (SVC-6).
 */
export const referenceInUse = (holder: InvoiceId, mode: Mode): Refusal => {
  const taken = `Já existe uma nota da empresa com esta reference, mesmo que tenha falhado: ${publicInvoiceId(holder)}. Consulte essa nota; só para outra venda, ou se ela está em failed ou canceled, use outra reference.`;
  const more =
    mode === 'test'
      ? 'A nota de teste pode ter sido apagada depois de 7 dias: então use outra reference.'
      : 'Em canceled, se você não pediu o cancelamento, ou em dúvida, veja o carimbo do PDF (SUBSTITUÍDA) ou fale com o suporte antes de emitir outra.';
  return { code: 'nfse.reference_in_use', message: `${taken} ${more}` };
};

/** Whether the earlier request was accepted. Its reference may have led to an older invoice, whose stream it then marks for moments. */
const isYoung = (state: InvoiceState, youngerThan: Instant): boolean =>
  state.kind === 'invoice' && state.facts.createdAt !== undefined && !isBefore(state.facts.createdAt, youngerThan);

/** Names the invoice of the earlier request, if that was accepted for sure: the client must look at that invoice before sending another. */
export const suspectedDuplicate = (earlierId: InvoiceId | undefined): Refusal => {
  if (earlierId === undefined) return { code: 'duplicate_suspected' };
  const message = `Uma nota com o mesmo valor e a mesma descrição foi aceita há menos de 60 segundos: ${publicInvoiceId(earlierId)}. Consulte essa nota: se é a mesma venda, não repita; se é outra, envie Idempotency-Key ou aguarde.`;
  return { code: 'duplicate_suspected', message };
};

/**
 * Names the first invoice, if that is known: a client that corrected the body after a lost answer must look at that invoice before sending
 * another.
 */
export const otherBody = (invoiceId: InvoiceId | undefined): Refusal => {
  if (invoiceId === undefined) return { code: 'idempotency_key_reuse' };
  const message = `Esta Idempotency-Key já foi usada com outro corpo nas últimas 24 horas, para a nota ${publicInvoiceId(invoiceId)}. Consulte essa nota; só para outra venda, ou se ela está em failed ou canceled, use uma chave nova.`;
  return { code: 'idempotency_key_reuse', message };
};

/** The message must not advise another key for a repeated request, because the invoice of the first try may exist. */
export const bodyNotComparable = (invoiceId: InvoiceId | undefined): Refusal => {
  const first = invoiceId === undefined ? 'a primeira requisição' : `a nota ${publicInvoiceId(invoiceId)}`;
  const message = `Esta Idempotency-Key já foi usada para ${first}, e não é mais possível comparar os dois corpos. Consulte a nota antes de enviar outra; só para outra venda use uma chave nova.`;
  return { code: 'idempotency_key_reuse', message };
};

/** An import may not know when the invoice was made. Then its date of issue counts, and without both the key never ends. */
const isKeyAlive = ({ facts, outcome }: Invoice, claim: Claim, { windows }: AcceptDeps): boolean => {
  const since = facts.createdAt ?? (outcome.status === 'issued' ? outcome.issuedAt : undefined);
  return since === undefined || isBefore(claim.acceptedAt, addSeconds(since, windows.idempotencySeconds));
};

/** The invoice as the 202 shows it, folded from the stored event. */
const acceptedInvoice = (event: InvoiceEvent): Invoice => {
  const state = evolve(initialInvoice, event);
  if (state.kind !== 'invoice') throw new Error('InvoiceAccepted gives an invoice');
  return state;
};
