import { EventEmitter, once } from 'node:events';
import { pause } from '../lib/pause.js';
import type { WorkGate } from '../ports/work-queue.js';

/** Milliseconds between an answer that did not come and the next question. */
const ASK_AGAIN_MS = 500;

/**
 * The gate of a worker that takes no work while this process reaches no engine: another process may reach it. `close` keeps the gate closed until the
 * engines answer once. `enginesAnswer` never rejects.
 */
export const createEngineGate = (
  enginesAnswer: () => Promise<boolean>,
  signal: AbortSignal,
): WorkGate & { close(): void } => {
  const changes = new EventEmitter();
  // Each loop of a worker may wait for a change.
  changes.setMaxListeners(0);
  let isOpen = true;
  const turn = (open: boolean): void => {
    isOpen = open;
    changes.emit('changed');
  };
  const openWhenAnswered = async (): Promise<void> => {
    while (!signal.aborted && !(await enginesAnswer())) await pause(ASK_AGAIN_MS, signal);
    turn(true);
  };
  return {
    isOpen: () => isOpen,
    changed: async (until) => {
      await once(changes, 'changed', { signal: until }).catch(() => undefined);
    },
    close: () => {
      if (!isOpen) return;
      turn(false);
      void openWhenAnswered();
    },
  };
};
