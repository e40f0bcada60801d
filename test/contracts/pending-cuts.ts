import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { PendingCuts } from '../../src/ports/work-progress.js';

/** The contract of every list of pending cuts; call it inside a `describe`. */
export const pendingCutsContract = (cuts: () => PendingCuts): void => {
  it('lists a stream once, from when it is added until it is done', async () => {
    const stream = `nfseTest-${randomUUID()}`;
    await cuts().add(stream);
    await cuts().add(stream);
    expect((await cuts().list(1000)).filter((one) => one === stream)).toEqual([stream]);
    await cuts().done(stream);
    await cuts().done(stream);
    expect(await cuts().list(1000)).not.toContain(stream);
  });
};
