import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { LookupProgressStore } from '../../src/ports/work-progress.js';

/** The contract of every store of look-up memos; call it inside a `describe`. */
export const lookupMemosContract = (memos: () => LookupProgressStore): void => {
  it('keeps the last memo per stream and work', async () => {
    const stream = randomUUID();
    const first = { asked: 1, lastAskedAt: '2026-11-21T12:00:00.000Z' };
    const second = { asked: 2, lastAskedAt: '2026-11-21T12:00:05.000Z', firstAbsentAt: '2026-11-21T12:00:05.000Z' };
    expect(await memos().get(stream, 'issue/1')).toBeUndefined();
    await memos().put(stream, 'issue/1', first);
    expect(await memos().get(stream, 'issue/1')).toEqual(first);
    await memos().put(stream, 'issue/1', second);
    expect(await memos().get(stream, 'issue/1')).toEqual(second);
    expect(await memos().get(stream, 'issue/2')).toBeUndefined();
    await memos().put(stream, 'issue/1', first);
    expect(await memos().get(stream, 'issue/1')).toEqual(first);
  });

  it('forgets all of one stream and nothing of another', async () => {
    const [gone, kept] = [randomUUID(), randomUUID()];
    const memo = { asked: 1, lastAskedAt: '2026-11-21T12:00:00.000Z' };
    for (const work of ['issue/1', 'cancel/1/1']) await memos().put(gone, work, memo);
    await memos().put(kept, 'issue/1', memo);
    await memos().forget(gone);
    expect(await memos().get(gone, 'issue/1')).toBeUndefined();
    expect(await memos().get(gone, 'cancel/1/1')).toBeUndefined();
    expect(await memos().get(kept, 'issue/1')).toEqual(memo);
  });
};
