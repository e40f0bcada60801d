import type { Environment } from '../environment.js';
import type { Refusal } from '../refusal.js';
import type { FaultTarget, NoteConcerned } from '../state/faults.js';
import type { Answer } from './answer.js';

/** One call, understood but not yet done, so that a fault can come before, after or instead of it. */
export type Operation = {
  on: FaultTarget;
  environment: Environment;
  note: NoteConcerned;
  /** Does it, durably where it writes, and says the honest answer. */
  perform(): Promise<Answer>;
  /** The answer of this call to errors that a fault makes up. */
  refuse(refusals: readonly Refusal[]): Answer;
  /** Answer of a look-up that finds nothing; for a writing call, what a stale fault hides. */
  effect: { kind: 'reads'; absent(): Answer } | { kind: 'writes'; hides: string | undefined };
};

export const hiddenNote = (dpsId: string): string => `dps/${dpsId}`;

export const hiddenEvent = (accessKey: string): string => `event/${accessKey}`;
