import { randomUUID } from 'node:crypto';
import { checkEligibility, type Eligible } from '../../domain/company/eligibility.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { invoiceStream } from '../../domain/shared/ids.js';
import { expandMarkers } from '../../domain/shared/markers.js';
import { brasiliaDate } from '../../domain/shared/time.js';
import { EventLogUnavailable } from '../../ports/event-log.js';
import type { Claim, ClaimResult, FingerprintMark } from '../../ports/guards.js';
import { fingerprintOf } from '../hashes.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { AcceptDeps, AcceptResult, IssueCommand, Requester } from './accept-deps.js';
import { withRecordedFacts } from './record-facts.js';
import { type Candidate, findOwnInvoice, reserveAndAppend } from './reserve.js';

/**
 * `POST /v1/nfse` after its schema (design section 5): the key first, so that a replay never becomes a 422 because a
 * certificate expired since; then the 422 rules, then one conditional append that is reservation and acceptance in
 * one. Throws when something could not be recorded (503).
 */
export const acceptInvoice = async (
  command: IssueCommand,
  requester: Requester,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const now = deps.clock.now();
  const fresh: Claim = { leaseToken: randomUUID(), commandId: randomUUID(), acceptedAt: now };
  const { idempotency } = command;
  if (idempotency === undefined) return await checkAndReserve(command, requester, fresh, deps);

  const { mode, companyId } = requester;
  const owner = { mode, companyId, keyHash: idempotency.keyHash };
  const claimed = await deps.idempotency.claim(owner, idempotency.bodyHash, fresh, now);
  if (claimed.kind !== 'claimed') return await answerKnownKey(claimed, requester, deps);
  const { claim } = claimed;
  const resumed = claim.commandId !== fresh.commandId;
  const left = resumed
    ? await findOwnInvoice(command.request.reference, requester, idempotency, claim, deps)
    : undefined;
  const release = () => deps.idempotency.release(owner, claim.leaseToken);
  const result =
    left === undefined
      ? await checkAndReserve(command, requester, claim, deps).catch(releaseIfNotStored(release, resumed))
      : { accepted: left };
  if ('refused' in result) {
    await release();
    return result;
  }
  const { invoiceId } = result.accepted.facts;
  await Promise.all([
    deps.idempotency.markDone(owner, claim.leaseToken, invoiceId),
    leaveMark(command, requester, { stream: invoiceStream(mode, companyId, invoiceId), at: claim.acceptedAt }, deps),
  ]);
  return result;
};

/**
 * What was certainly not stored frees the key; after anything else it stays leased, and the retry goes on with the same command.
 * A retry that took a lease over speaks for itself only: what it took over from may still store, and then under this key.
 */
const releaseIfNotStored =
  (release: () => Promise<void>, resumed: boolean) =>
  async (error: unknown): Promise<never> => {
    if (error instanceof EventLogUnavailable && !resumed) await release().catch(() => undefined);
    throw error;
  };

/** A keyed request is never refused by the duplicate window, but counts in it once it is accepted (reading 16). */
const leaveMark = async (
  { request }: IssueCommand,
  { mode, companyId }: Requester,
  mark: FingerprintMark,
  deps: AcceptDeps,
): Promise<void> => {
  const fingerprint = fingerprintOf(mode, companyId, request.amountInCents, request.description);
  await deps.duplicates.place(fingerprint, mark, null);
};

const checkAndReserve = async (
  command: IssueCommand,
  requester: Requester,
  claim: Claim,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const company = await deps.company(requester.companyId);
  if (company === undefined) return { refused: { code: 'company.issuer_not_configured' } };
  const facts = {
    ...(await deps.eligibilityFacts(company, requester.mode)),
    mode: requester.mode,
    now: deps.clock.now(),
    company,
  };
  const checked = checkEligibility(command.request, facts);
  if ('refused' in checked) return checked;
  const eligible = await withRecordedFacts(checked.eligible, deps);
  return await reserveAndAppend(candidateOf(command, eligible, requester, claim), requester, command.idempotency, deps);
};

const answerKnownKey = async (
  known: Exclude<ClaimResult, { kind: 'claimed' }>,
  requester: Requester,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  switch (known.kind) {
    case 'reuse':
      return { refused: { code: 'idempotency_key_reuse' } };
    case 'in_use':
      return { refused: { code: 'idempotency_key_in_use', retryAfterSeconds: 1 } };
    case 'done':
      return await replay(known.invoiceId, requester, deps);
  }
};

/** The first answer again, showing the invoice as it is now (reading 14). */
const replay = async (invoiceId: string, { mode, companyId }: Requester, deps: AcceptDeps): Promise<AcceptResult> => {
  const { state } = await loadInvoice(invoiceStream(mode, companyId, invoiceId), deps.store);
  if (state.kind === 'invoice') return { accepted: state };
  if (state.kind === 'deleted') return { refused: { code: 'not_found' } };
  throw new Error('an idempotency key points at an invoice that the log does not have');
};

const candidateOf = (command: IssueCommand, eligible: Eligible, requester: Requester, claim: Claim): Candidate => {
  const { request, idempotency } = command;
  const { mode, companyId } = requester;
  const { amountInCents, description, reference } = request;
  const { acceptedAt } = claim;
  const fingerprint = fingerprintOf(mode, companyId, amountInCents, description);
  const eventFor = (invoiceId: string): InvoiceEvent => ({
    type: 'InvoiceAccepted',
    data: {
      mode,
      companyId,
      invoiceId,
      amountInCents,
      description: expandMarkers(description, acceptedAt),
      competence: brasiliaDate(acceptedAt),
      ...eligible,
      ...(reference === undefined ? {} : { reference }),
      acceptedAt,
      ...(idempotency === undefined ? {} : { idempotency }),
      fingerprint,
    },
  });
  return { ...(reference === undefined ? {} : { reference }), fingerprint, claim, eventFor };
};
