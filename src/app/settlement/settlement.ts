import type { Limits } from '../../domain/invoice/limits.js';
import type { StreamName } from '../../domain/shared/ids.js';
import type { FoundDocument, Owner } from '../../domain/invoice/sent-document.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { LookupMemos } from '../../ports/guards.js';
import type { EventStore } from '../event-store/event-store.js';
import { doubtsOf, type IssuerNotice } from '../issuer/deps.js';

export type SettleAs = 'issued' | 'failed' | 'canceled';

export type SettleCommand = {
  stream: StreamName;
  as: SettleAs;
  /** What the operator says that it rests on; stays in the event, sealed. */
  evidence: string;
  /** `issued` only: where the document stands, when it cannot be found by DPS id. */
  accessKey?: string;
};

export type SettleDeps = {
  store: EventStore;
  authorizer: Authorizer;
  lookups: LookupMemos;
  clock: Clock;
  limits: Limits;
  actor: `support:${string}`;
  /** Tells of a document that cannot be relied on, and keeps it for `nfse doctor`; over when it is kept. */
  alarm(notice: IssuerNotice): Promise<void>;
};

/** `refused` and `detail` are one line; `ask_again`: the first of two proofs was heard, the same command after `at` asks for the second. */
export type SettleResult =
  | { kind: 'settled'; detail: string }
  | { kind: 'already_so' }
  | { kind: 'refused'; reason: string }
  | { kind: 'ask_again'; at: string; detail: string };

export const refusedResult = (reason: string): SettleResult => ({ kind: 'refused', reason });

/** Nothing is concluded from an answer that proves nothing. */
export const inconclusive = (reason: string): string =>
  `the authorizer's answer proves nothing (${reason}): try again later`;

/** Ours is recorded under a signature that nobody could verify, but never in silence. What the telling throws changes nothing. */
export const alarmOf = async (
  stream: StreamName,
  found: FoundDocument,
  owner: Owner,
  { alarm }: Pick<SettleDeps, 'alarm'>,
): Promise<void> => {
  for (const doubt of doubtsOf(stream, found, owner)) await alarm(doubt).catch(() => undefined);
};
