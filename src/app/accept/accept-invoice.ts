import { randomUUID } from 'node:crypto';
import type { Refusal } from '../../domain/common/error-catalogue.js';
import { type InvoiceId, invoiceStream, type StreamName } from '../../domain/common/ids.js';
import { expandMarkers } from '../../domain/common/markers.js';
import { present } from '../../domain/common/present.js';
import { addSeconds, brasiliaDate, type Instant, isBefore } from '../../domain/common/time.js';
import { checkEligibility, type Eligible } from '../../domain/company/eligibility.js';
import type { IdempotencyMark, InvoiceEvent } from '../../domain/invoice/events.js';
import type { Fingerprints } from '../../ports/duplicate-window.js';
import type { Claim, ClaimResult, KeyOwner } from '../../ports/idempotency-keys.js';
import type { Requester } from '../event-store/command-context.js';
import { fingerprintOf } from '../event-store/hashes.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { AcceptDeps, AcceptResult, ClaimedRequest, IssueCommand, RequestKey } from './accept-deps.js';
import { withRecordedFacts } from './recorded-facts.js';
import {
  answerOfReference,
  appendAtOnce,
  bodyNotComparable,
  type Candidate,
  findOwnInvoice,
  LATE_APPEND_SECONDS,
  otherBody,
  reserveAndAppend,
  undoneIfNotStored,
} from './reserve.js';

/**
 * `POST /v1/nfse` after its schema. The idempotency key comes first, so that a replay never becomes a 422 because a certificate has expired
 * since. The 422 rules follow, and a taken reference counts before them. Then comes one conditional append, which is the acceptance
 * (docs/architecture.md#uniqueness). Throws when something could not be recorded (503).
 */
export const acceptInvoice = async (
  command: IssueCommand,
  requester: Requester,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const fresh: Claim = { leaseToken: randomUUID(), commandId: randomUUID(), acceptedAt: deps.clock.now() };
  const { idempotency } = command;
  if (idempotency === undefined) return await checkAndReserve({ ...command, requester, claim: fresh }, deps);

  const { mode, companyId } = requester;
  const owner = { mode, companyId, keyHash: idempotency.keyHash };
  if (deps.store.appendGuarded !== undefined) {
    const result = await acceptAtOnce({ ...command, requester, claim: fresh }, owner, idempotency, deps);
    if (result !== undefined) return result;
  }
  const claimed = await claimKey(owner, idempotency, fresh, deps.clock.now(), deps);
  if (claimed.kind !== 'claimed') return await answerKnownKey(claimed, requester, deps);
  const { claim } = claimed;
  const claimedRequest = { ...command, requester, claim };
  const isFirstTry = claim.commandId === fresh.commandId;
  const release = () => deps.idempotency.release(owner, claim.leaseToken, deps.clock.now());
  // After any other error the key stays leased, and a retry takes the lease over.
  const result = isFirstTry
    ? await undoneIfNotStored(checkAndReserve(claimedRequest, deps), release)
    : await acceptAgain(claimedRequest, owner, fresh, deps);
  if ('refused' in result) {
    if (result.refused.code !== IN_USE.code) await release();
    return result;
  }
  const { invoiceId, createdAt: acceptedAt = claim.acceptedAt } = result.accepted.facts;
  await Promise.all([
    deps.idempotency.markDone(owner, claim.leaseToken, invoiceId),
    leaveMark({ ...claimedRequest, claim: { ...claim, acceptedAt } }, invoiceStream(mode, companyId, invoiceId), deps),
  ]);
  return result;
};

/**
 * A retry that took over the lease of an earlier try, whose append may still come. So the retry answers a refusal only once no append can come, and the
 * key stays leased until then. An accepted retry counts from its own instant, because counted from the first try the invoice could be past its
 * deadline.
 */
const acceptAgain = async (
  claimedRequest: ClaimedRequest,
  owner: KeyOwner,
  fresh: Claim,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const left = await findOwnInvoice(claimedRequest, deps);
  if (left !== undefined) return { accepted: left };
  const mayAppend = isBefore(fresh.acceptedAt, addSeconds(claimedRequest.claim.acceptedAt, LATE_APPEND_SECONDS));
  const orInUse = (result: { refused: Refusal }) => (mayAppend ? { refused: IN_USE } : result);
  const candidate = await eligibleCandidate({ ...claimedRequest, claim: fresh }, deps);
  if ('refused' in candidate) {
    const taken = await answerOfReference(claimedRequest, deps);
    return taken !== undefined && 'accepted' in taken ? taken : orInUse(taken ?? candidate);
  }
  if (!(await deps.idempotency.renew(owner, fresh))) return { refused: IN_USE };
  const result = await reserveAndAppend(candidate, deps);
  return 'refused' in result ? orInUse(result) : result;
};

/**
 * Where the log is in the database of the guards: the rules, and then one transaction for all (ADR 42). Undefined when that did not accept the
 * request; then the key is claimed, because it decides what a refusal or a repeated request is answered.
 */
const acceptAtOnce = async (
  claimedRequest: ClaimedRequest,
  owner: KeyOwner,
  { plainBodyHash }: RequestKey,
  deps: AcceptDeps,
): Promise<AcceptResult | undefined> => {
  const key = [owner.mode, owner.companyId, owner.keyHash].join('|');
  const underWay = deps.underWay.get(key);
  if (underWay !== undefined) {
    // Nothing in the database shows the first request yet, unless it is a repeated one too.
    if (await deps.idempotency.isFinished(owner, deps.clock.now())) return undefined;
    return { refused: underWay === plainBodyHash ? IN_USE : otherBody(undefined) };
  }
  deps.underWay.set(key, plainBodyHash);
  try {
    const candidate = await eligibleCandidate(claimedRequest, deps);
    return 'refused' in candidate ? undefined : await appendAtOnce(candidate, deps);
  } finally {
    deps.underWay.delete(key);
  }
};

/**
 * An idempotency key that is held under another body hash may be held by the same body: another secret hashed it, before midnight, a rotation or
 * an upgrade. That is rare, so the usual claim takes one query.
 */
const claimKey = async (
  owner: KeyOwner,
  { plainBodyHash }: RequestKey,
  fresh: Claim,
  now: Instant,
  { idempotency, hashes }: AcceptDeps,
): Promise<ClaimResult | NotComparable> => {
  const bodyHash = await hashes.bodyHash(owner, plainBodyHash, now);
  const claimed = await idempotency.claim(owner, bodyHash, fresh, now);
  if (claimed.kind !== 'reuse') return claimed;
  const comparison = await hashes.compareBody(claimed.bodyHash, owner, plainBodyHash);
  if (comparison === 'same') return await idempotency.claim(owner, bodyHash, fresh, now, claimed.bodyHash);
  return comparison === 'other' ? claimed : { ...claimed, kind: 'not_comparable' };
};

/** The idempotency key is in use, and the secret that hashed its body is gone. */
type NotComparable = { kind: 'not_comparable'; invoiceId?: InvoiceId };

/** A keyed request is never refused by the duplicate window, but it counts in the window once it is accepted (docs/contract.md IDEM-5). */
const leaveMark = async (claimedRequest: ClaimedRequest, stream: StreamName, deps: AcceptDeps): Promise<void> => {
  const fingerprints = await fingerprintsOf(claimedRequest, deps);
  await deps.duplicates.place(fingerprints, { stream, at: claimedRequest.claim.acceptedAt }, null);
};

const fingerprintsOf = (
  { request: { amountInCents, description }, requester: { mode, companyId }, claim }: ClaimedRequest,
  { hashes, windows }: AcceptDeps,
): Promise<Fingerprints> => {
  const plain = fingerprintOf(mode, companyId, amountInCents, description);
  return hashes.fingerprints(mode, plain, claim.acceptedAt, windows.duplicateSeconds);
};

const checkAndReserve = async (claimedRequest: ClaimedRequest, deps: AcceptDeps): Promise<AcceptResult> => {
  const candidate = await eligibleCandidate(claimedRequest, deps);
  if ('refused' in candidate) return (await answerOfReference(claimedRequest, deps)) ?? candidate;
  const result = await reserveAndAppend(candidate, deps);
  if (!('refused' in result) || result.refused.code !== 'duplicate_suspected') return result;
  // The duplicate may be another sale. A taken reference names the invoice of this one, and neither a key nor time frees it.
  return (await answerOfReference(claimedRequest, deps)) ?? result;
};

const eligibleCandidate = async (
  claimedRequest: ClaimedRequest,
  deps: AcceptDeps,
): Promise<Candidate | { refused: Refusal }> => {
  const { request, requester } = claimedRequest;
  const company = await deps.company(requester.companyId);
  if (company === undefined) return { refused: { code: 'company.issuer_not_configured' } };
  const facts = {
    ...(await deps.eligibilityFacts(company, requester.mode)),
    mode: requester.mode,
    now: deps.clock.now(),
    company,
  };
  const checked = checkEligibility(request, facts);
  if ('refused' in checked) return checked;
  const competence = brasiliaDate(claimedRequest.claim.acceptedAt);
  const eligible = await withRecordedFacts({ ...checked, registration: company.registration, competence }, deps);
  return await candidateOf(claimedRequest, eligible, deps);
};

const answerKnownKey = async (
  known: Exclude<ClaimResult, { kind: 'claimed' }> | NotComparable,
  requester: Requester,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  switch (known.kind) {
    case 'reuse':
      return { refused: otherBody(known.invoiceId) };
    case 'not_comparable':
      return { refused: bodyNotComparable(await ifOnRecord(known.invoiceId, requester, deps)) };
    case 'in_use':
      return { refused: IN_USE };
    case 'done':
      return await replay(known.invoiceId, requester, deps);
  }
};

/** An import that died leaves its key to an invoice that is not there: the client is not sent to look at that one. */
const ifOnRecord = async (
  invoiceId: InvoiceId | undefined,
  { mode, companyId }: Requester,
  { store }: AcceptDeps,
): Promise<InvoiceId | undefined> => {
  if (invoiceId === undefined) return undefined;
  const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), store);
  return state.kind === 'none' ? undefined : invoiceId;
};

const IN_USE: Refusal = { code: 'idempotency_key_in_use', retryAfterSeconds: 1 };

/** The first answer again, with the invoice as it is now (docs/contract.md IDEM-1). */
const replay = async (
  invoiceId: InvoiceId,
  { mode, companyId }: Requester,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
  if (state.kind === 'invoice') return { accepted: state };
  if (state.kind === 'deleted') return { refused: { code: 'not_found' } };
  throw new Error('an idempotency key points at an invoice that the log does not have');
};

const candidateOf = async (
  claimedRequest: ClaimedRequest,
  eligible: Eligible,
  deps: AcceptDeps,
): Promise<Candidate> => {
  const { request, idempotency, requester, claim } = claimedRequest;
  const { mode, companyId } = requester;
  const { amountInCents, description, reference } = request;
  const { acceptedAt } = claim;
  const fingerprints = await fingerprintsOf(claimedRequest, deps);
  const mark: IdempotencyMark | undefined = idempotency && {
    keyHash: idempotency.keyHash,
    bodyHash: await deps.hashes.bodyHash(
      { mode, companyId, keyHash: idempotency.keyHash },
      idempotency.plainBodyHash,
      acceptedAt,
    ),
  };
  const eventFor = (invoiceId: InvoiceId): InvoiceEvent => ({
    type: 'InvoiceAccepted',
    data: present({
      mode,
      companyId,
      invoiceId,
      amountInCents,
      description: expandMarkers(description, acceptedAt),
      competence: brasiliaDate(acceptedAt),
      line: eligible.line,
      issuer: eligible.issuer,
      customer: eligible.customer,
      foreignAmount: eligible.foreignAmount,
      ibsCbs: eligible.ibsCbs,
      reference,
      acceptedAt,
      idempotency: mark,
      fingerprint: fingerprints.placed[0],
    }),
  });
  return { ...claimedRequest, fingerprints, mark, eventFor };
};
