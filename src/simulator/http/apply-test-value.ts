import type { World } from '../environment.js';
import { refusal } from '../refusal.js';
import type { FaultKind } from '../state/faults.js';
import { isStillUnsettled, SLOW_MS, testEffect } from '../test-values.js';
import type { Answer } from './answer.js';
import type { Operation } from './operation.js';

/** The answer, and the fault that it equals; none where the call is answered as usual. */
type Answered = { answer: Answer; fault?: FaultKind };

/**
 * Performs a call, and answers as the test value of its note says. Only a success is changed: a document that is refused has its usual answer.
 * The refusals of test values are among the rules.
 */
export const answerOfTestValue = async (world: World, operation: Operation): Promise<Answered> => {
  const { on, note } = operation;
  const answer = await operation.perform();
  if (!('status' in answer) || answer.status >= 300) return { answer };
  switch (testEffect(on, note)) {
    case 'slow':
      await world.timers.wait(SLOW_MS);
      return { answer, fault: 'slow' };
    case 'lost':
      return { answer: { kind: 'cut' }, fault: 'lost_after_commit' };
    case 'unsettled': {
      const isOver = note.authorizedAt !== undefined && !isStillUnsettled(note.authorizedAt, world.clock.now());
      // A code that proves nothing and is no outage, so that other companies' sends go on.
      return isOver ? { answer } : { answer: operation.refuse([refusal('RNG9999')]), fault: 'transient' };
    }
    default:
      return { answer };
  }
};
