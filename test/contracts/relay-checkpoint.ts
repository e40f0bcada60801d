import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { LogPosition } from '../../src/ports/event-log.js';
import type { RelayCheckpoint } from '../../src/ports/work-progress.js';

const at = (position: bigint): LogPosition => position as LogPosition;

/** The contract of every relay checkpoint; call it inside a `describe`. */
export const relayCheckpointContract = (checkpoint: () => RelayCheckpoint): void => {
  it('goes on where it was, never backwards, and from the beginning for another log', async () => {
    const [log, other] = [randomUUID(), randomUUID()];
    expect(await checkpoint().read(log)).toBeNull();
    await checkpoint().move(log, at(12n));
    await checkpoint().move(log, at(18_446_744_073_709_551_615n));
    await checkpoint().move(log, at(13n));
    expect(await checkpoint().read(log)).toBe(18_446_744_073_709_551_615n);
    expect(await checkpoint().read(other)).toBeNull();
  });
};
