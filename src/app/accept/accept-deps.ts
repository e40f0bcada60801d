import type { Refusal } from '../../domain/common/error-catalogue.js';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import type { Company } from '../../domain/company/company.js';
import type { EligibilityFacts, IssueRequest } from '../../domain/company/eligibility.js';
import type { Invoice } from '../../domain/invoice/state.js';
import type { Clock } from '../../ports/clock.js';
import type { DuplicateWindow } from '../../ports/duplicate-window.js';
import type { Claim, IdempotencyKeys } from '../../ports/idempotency-keys.js';
import type { Requester } from '../event-store/command-context.js';
import type { EventStore } from '../event-store/event-store.js';
import type { GuardHashes } from './guard-hashes.js';
import type { FactSources } from './recorded-facts.js';

/** `plainBodyHash`: SHA-256 of the body. It is compared and hashed under a key, and never stored. */
export type RequestKey = { keyHash: string; plainBodyHash: string };

export type IssueCommand = { request: IssueRequest; idempotency?: RequestKey };

/** A request under its claim. A repeated request has the claim of the first one, and so the same ids. */
export type ClaimedRequest = IssueCommand & { requester: Requester; claim: Claim };

export type AcceptResult = { accepted: Invoice } | { refused: Refusal };

export type AcceptDeps = FactSources & {
  store: EventStore;
  idempotency: IdempotencyKeys;
  duplicates: DuplicateWindow;
  hashes: GuardHashes;
  /** Keys of the requests that this process accepts at once now, each with the hash of its body. */
  underWay: Map<string, RequestKey['plainBodyHash']>;
  clock: Clock;
  company(companyId: CompanyId): Promise<Company | undefined>;
  /** Tables of the eligibility rules, and the municipality as the environment of the mode knows it. */
  eligibilityFacts(company: Company, mode: Mode): Promise<Omit<EligibilityFacts, 'mode' | 'now' | 'company'>>;
  windows: { idempotencySeconds: number; duplicateSeconds: number };
};
