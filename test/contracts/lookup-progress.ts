import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { LookupProgressStore } from '../../src/ports/work-progress.js';

/** The contract of every store of the progress of look-ups; call it inside a `describe`. */
export const lookupProgressContract = (store: () => LookupProgressStore): void => {
  it('keeps the last progress per stream and work', async () => {
    const stream = randomUUID();
    const first = { asked: 1, lastAskedAt: '2026-11-21T12:00:00.000Z' };
    const second = { asked: 2, lastAskedAt: '2026-11-21T12:00:05.000Z', firstAbsentAt: '2026-11-21T12:00:05.000Z' };
    expect(await store().get(stream, 'issue/1')).toBeUndefined();
    await store().put(stream, 'issue/1', first);
    expect(await store().get(stream, 'issue/1')).toEqual(first);
    await store().put(stream, 'issue/1', second);
    expect(await store().get(stream, 'issue/1')).toEqual(second);
    expect(await store().get(stream, 'issue/2')).toBeUndefined();
    await store().put(stream, 'issue/1', first);
    expect(await store().get(stream, 'issue/1')).toEqual(first);
  });

  it('forgets all of one stream and nothing of another', async () => {
    const [gone, kept] = [randomUUID(), randomUUID()];
    const progress = { asked: 1, lastAskedAt: '2026-11-21T12:00:00.000Z' };
    for (const work of ['issue/1', 'cancel/1/1']) await store().put(gone, work, progress);
    await store().put(kept, 'issue/1', progress);
    await store().forget(gone);
    expect(await store().get(gone, 'issue/1')).toBeUndefined();
    expect(await store().get(gone, 'cancel/1/1')).toBeUndefined();
    expect(await store().get(kept, 'issue/1')).toEqual(progress);
  });
};
