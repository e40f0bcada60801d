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
  /** HTTP status, or what was done to the connection instead of an answer. */
  outcome: number | 'cut' | 'reset';
  /** Error codes of the answer. */
  codes?: readonly string[];
  /** Kinds of the faults that applied. */
  faults?: readonly FaultKind[];
};

export type Calls = { add(call: Call): void; all(): readonly Call[] };

/** The oldest half is forgotten beyond this. */
const KEPT = 200_000;

export const createCalls = (): Calls => {
  let calls: Call[] = [];
  return {
    add: (call) => {
      calls.push(call);
      if (calls.length > KEPT) calls = calls.slice(KEPT / 2);
    },
    all: () => calls,
  };
};
