import type { KeyUses } from '../../adapters/read-model-postgres/key-uses.js';
import { epochMs, type Instant } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';

const HOUR_MS = 3_600_000;
const GATHER_MS = 1_000;

export type UseRecorder = {
  /** Only looks into a map; a timer writes later, so that no request waits. */
  used(keyId: string): void;
  flush(): Promise<void>;
};

/** Records the hour in which each key was last used. A use that could not be written is recorded with the next use of the key. */
export const createUseRecorder = (
  uses: Pick<KeyUses, 'save'>,
  clock: Clock,
  onFault: (error: unknown) => void,
): UseRecorder => {
  const recordedHours = new Map<string, number>();
  let pending = new Map<string, Instant>();
  let timer: NodeJS.Timeout | undefined;

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size === 0) return;
    const now = pending;
    pending = new Map();
    await uses.save(now).catch((error: unknown) => {
      for (const keyId of now.keys()) recordedHours.delete(keyId);
      onFault(error);
    });
  };

  return {
    used: (keyId) => {
      const now = clock.now();
      const hour = Math.floor(epochMs(now) / HOUR_MS);
      if (recordedHours.get(keyId) === hour) return;
      recordedHours.set(keyId, hour);
      pending.set(keyId, now);
      timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
    },
    flush,
  };
};
