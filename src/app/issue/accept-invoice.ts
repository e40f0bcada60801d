import { randomUUID } from 'node:crypto';
import { checkEligibility, type Eligible } from '../../domain/company/eligibility.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { invoiceStream } from '../../domain/shared/ids.js';
import { expandMarkers } from '../../domain/shared/markers.js';
import { brasiliaDate } from '../../domain/shared/time.js';
import type { Claim, IdempotencyKeys, KeyOwner } from '../../ports/guards.js';
import type { TaxRegistry } from '../../ports/tax-registry.js';
import { fingerprintOf } from '../hashes.js';
import { loadInvoice } from '../read/read-invoice.js';
import type { AcceptDeps, AcceptResult, IssueCommand, Requester } from './accept-deps.js';
import { type Candidate, reserveAndAppend } from './reserve.js';

/**
 * `POST /v1/nfse` after its schema (design section 5): a replay first, then the 422 rules, then the claims, then one
 * conditional append that is reservation and acceptance in one. Throws when something could not be recorded (503).
 */
export const acceptInvoice = async (
  command: IssueCommand,
  requester: Requester,
  deps: AcceptDeps,
): Promise<AcceptResult> => {
  const { mode, companyId } = requester;
  const { idempotency } = command;
  const now = deps.clock.now();
  const owner = idempotency === undefined ? undefined : { mode, companyId, keyHash: idempotency.keyHash };
  if (owner !== undefined && idempotency !== undefined) {
    const known = await deps.idempotency.peek(owner, idempotency.bodyHash, now);
    if (known.kind !== 'free') return await answerKnownKey(known, requester, deps);
  }
  const company = await deps.company(companyId);
  if (company === undefined) return { refused: { code: 'company.issuer_not_configured' } };
  const checked = checkEligibility(command.request, { ...(await deps.eligibilityFacts(company)), mode, now, company });
  if ('refused' in checked) return checked;
  const eligible = await withRegistryName(checked.eligible, deps.taxRegistry);

  const fresh: Claim = { leaseToken: randomUUID(), commandId: randomUUID(), acceptedAt: now };
  if (owner === undefined || idempotency === undefined) {
    return await reserveAndAppend(candidateOf(command, eligible, requester, fresh), requester, undefined, deps);
  }
  const claimed = await deps.idempotency.claim(owner, idempotency.bodyHash, fresh, now);
  if (claimed.kind !== 'claimed') return await answerKnownKey(claimed, requester, deps);
  const { claim } = claimed;
  const result = await settleClaim(owner, claim, deps, () =>
    reserveAndAppend(candidateOf(command, eligible, requester, claim), requester, idempotency, deps),
  );
  const resumed = claim.commandId !== fresh.commandId;
  return resumed && 'accepted' in result ? await replay(result.accepted.facts.invoiceId, requester, deps) : result;
};

/** The key is done with its invoice, free again after a refusal, and left leased when nobody knows what was stored. */
const settleClaim = async (
  owner: KeyOwner,
  claim: Claim,
  deps: AcceptDeps,
  run: () => Promise<AcceptResult>,
): Promise<AcceptResult> => {
  const result = await run();
  if ('accepted' in result) {
    await deps.idempotency.markDone(owner, claim.leaseToken, result.accepted.facts.invoiceId);
  } else {
    await deps.idempotency.release(owner, claim.leaseToken);
  }
  return result;
};

const answerKnownKey = async (
  known: Exclude<Awaited<ReturnType<IdempotencyKeys['peek']>>, { kind: 'free' }>,
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

/** The registry's name wins for a CNPJ, the sent one is the fallback; what was used is recorded (reading 51). */
const withRegistryName = async (eligible: Eligible, registry: TaxRegistry): Promise<Eligible> => {
  const { customer } = eligible;
  if (customer?.type !== 'br' || customer.document?.length !== 14) return eligible;
  const entry = await registry.lookup(customer.document);
  return entry === undefined ? eligible : { ...eligible, customer: { ...customer, name: entry.legalName } };
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
