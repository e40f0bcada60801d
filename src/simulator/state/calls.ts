import { LRUCache } from 'lru-cache';
import type { Mode } from '../../domain/common/ids.js';
import type { Cents } from '../../domain/common/money.js';
import type { Instant } from '../../domain/common/time.js';
import type { FaultKind } from './faults.js';

/** One received call, in the form of `GET /_control/calls`. */
type Call = {
  /** Time of the authorizer's clock. */
  time: Instant;
  method: string;
  path: string;
  environment?: Mode;
  /** CNPJ of the client certificate. */
  caller?: string;
  /** Id of the received DPS. */
  dps_id?: string;
  /** HTTP status, or what happened to the connection instead of an answer; `open` until then. */
  outcome: number | 'cut' | 'reset' | 'open';
  /** Error codes of the answer. */
  codes?: readonly string[];
  /** Kinds of the faults that applied. */
  faults?: readonly FaultKind[];
};

export type Calls = {
  /** Records a call on arrival, so that a hanging call is visible too. The returned function records its outcome. */
  receive(call: Pick<Call, 'time' | 'method' | 'path'>): (answered: Omit<Call, 'time' | 'method' | 'path'>) => void;
  /** In the order of arrival. */
  all(): readonly Call[];
};

/** Above this number the oldest half is dropped. */
const KEPT = 200_000;

export const createCalls = (): Calls => {
  let calls: Call[] = [];
  return {
    receive: (call) => {
      const entry: Call = { ...call, outcome: 'open' };
      calls.push(entry);
      if (calls.length > KEPT) calls = calls.slice(KEPT / 2);
      return (answered) => void Object.assign(entry, answered);
    },
    all: () => calls,
  };
};

/** The documents that look-ups do not show yet, and the amounts of received DPS, by which faults match look-ups of a DPS id. */
export type Hidden = {
  hide(id: string): void;
  show(id: string): void;
  has(id: string): boolean;
  /** Keeps the amount of a DPS, also when the DPS never becomes a note. */
  sawDps(dpsId: string, amountInCents: Cents): void;
  amountOfDps(dpsId: string): Cents | undefined;
};

/** Amounts kept; the oldest are dropped. */
const REMEMBERED = 100_000;

export const createHidden = (): Hidden => {
  const hidden = new Map<string, number>();
  const amounts = new LRUCache<string, Cents>({ max: REMEMBERED });
  return {
    // A counter, so that a note under two overlapping faults stays hidden until the longer fault ends.
    hide: (id) => hidden.set(id, (hidden.get(id) ?? 0) + 1),
    show: (id) => {
      const left = (hidden.get(id) ?? 0) - 1;
      if (left > 0) hidden.set(id, left);
      else hidden.delete(id);
    },
    has: (id) => hidden.has(id),
    sawDps: (dpsId, amountInCents) => void amounts.set(dpsId, amountInCents),
    amountOfDps: (dpsId) => amounts.get(dpsId),
  };
};
