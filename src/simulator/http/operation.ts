import { CANCELLATION_EVENT } from '../../domain/common/access-key.js';
import type { World } from '../environment.js';
import type { Refusal } from '../refusal.js';
import type { FaultTarget, NoteConcerned } from '../state/faults.js';
import type { Note } from '../state/ledger.js';
import type { Answer } from './answer.js';

/** One call that was read but not performed yet, so that a fault can act before it, after it or in its place. */
export type Operation = {
  on: FaultTarget;
  note: NoteConcerned;
  /** Id of the DPS of a call that issues, where the DPS could be read. */
  dpsId?: string | undefined;
  /** Performs the call and returns the answer without faults; what it writes is on disk before it resolves. */
  perform(): Promise<Answer>;
  /** The answer of this call for refusals that a fault ordered. */
  refuse(refusals: readonly Refusal[]): Answer;
  /** `absent`: the answer of a look-up that finds nothing. `hides`: the id that a `stale` fault hides after a writing call. */
  effect: { kind: 'reads'; absent(): Answer } | { kind: 'writes'; hides: string | undefined };
};

export const hiddenNote = (dpsId: string): string => `dps/${dpsId}`;

export const hiddenEvent = (accessKey: string): string => `event/${accessKey}`;

/** Whether a fault hides the note, and so its events too. */
export const isNoteHidden = ({ hidden }: World, { dpsId }: Pick<Note, 'dpsId'>): boolean =>
  hidden.has(hiddenNote(dpsId));

/** Whether a fault hides this event of the note, or the note. */
export const isEventHidden = (world: World, note: Note, type: string): boolean =>
  isNoteHidden(world, note) || (type === CANCELLATION_EVENT && world.hidden.has(hiddenEvent(note.accessKey)));
