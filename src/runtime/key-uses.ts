import type { KeyUses } from '../adapters/read-model-postgres/key-uses.js';
import { epochMs, type Instant } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';

const HOUR_MS = 3_600_000;
const GATHER_MS = 1_000;

export type UseRecorder = {
  /** Costs a look into a map; what is to be written is written later, by nobody's request. */
  used(keyId: string): void;
  /** Writes what waits. */
  flush(): Promise<void>;
};

/**
 * Keeps the hour of the clock in which each key was last used: a further use in that hour is not told. A use that could not be
 * written is told again with the key's next one.
 */
export const createUseRecorder = (
  uses: Pick<KeyUses, 'note'>,
  clock: Clock,
  onFault: (error: unknown) => void,
  gatherMs = GATHER_MS,
): UseRecorder => {
  const told = new Map<string, number>();
  let waiting = new Map<string, Instant>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const now = waiting;
    waiting = new Map();
    await uses.note(now).catch((error: unknown) => {
      for (const keyId of now.keys()) told.delete(keyId);
      onFault(error);
    });
  };

  return {
    used: (keyId) => {
      const now = clock.now();
      const hour = Math.floor(epochMs(now) / HOUR_MS);
      if (told.get(keyId) === hour) return;
      told.set(keyId, hour);
      waiting.set(keyId, now);
      timer ??= setTimeout(() => void flush(), gatherMs).unref();
    },
    flush,
  };
};
