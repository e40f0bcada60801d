import type { Mode } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { FaultKind } from './faults.js';

/** One call as received, in the shape of `GET /_control/calls`. */
export type Call = {
  /** By the authorizer's clock. */
  time: Instant;
  method: string;
  path: string;
  environment?: Mode;
  /** Of the client certificate. */
  caller?: string;
  /** HTTP status, or what was done to the connection instead of an answer; `open` until either. */
  outcome: number | 'cut' | 'reset' | 'open';
  /** Error codes of the answer. */
  codes?: readonly string[];
  /** Kinds of the faults that applied. */
  faults?: readonly FaultKind[];
};

export type Calls = {
  /** Notes a call as it comes in, so that one that hangs is seen too; the function given back says what came of it. */
  receive(call: Pick<Call, 'time' | 'method' | 'path'>): (answered: Omit<Call, 'time' | 'method' | 'path'>) => void;
  /** In the order in which they came in. */
  all(): readonly Call[];
};

/** The oldest half is forgotten beyond this. */
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
