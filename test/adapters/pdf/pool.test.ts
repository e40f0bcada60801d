import { afterEach, describe, expect, it } from 'vitest';
import { PdfBusy, PdfFailed } from '../../../src/adapters/pdf/errors.js';
import { createPool, type Pool, type PoolOptions } from '../../../src/adapters/pdf/pool.js';

type Answer = { mood: string; threadId: number };

type Request = string | { mood: string; deaths: Int32Array };

let pool: Pool<Request, Answer>;

const usual: PoolOptions = {
  file: new URL('./support/moody-thread.mjs', import.meta.url),
  workers: 1,
  waiting: 8,
  waitMs: 60_000,
  timeoutMs: 60_000,
  heapMb: 64,
};

const open = (options: Partial<PoolOptions> = {}) => {
  pool = createPool({ ...usual, ...options });
  return pool;
};

afterEach(() => pool.close());

const failedFor = (reason: string) => expect.objectContaining({ name: 'PdfFailed', reason });

describe('the threads that draw', () => {
  it('answer each job with its own answer, on one thread', async () => {
    open();
    const answers = await Promise.all(['a', 'b', 'c'].map((mood) => pool.run(mood)));
    expect(answers.map(({ mood }) => mood)).toEqual(['a', 'b', 'c']);
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
  });

  it.each(['throw', 'exit', 'hoard'])(
    'fail the job that kills two of them (%s) and go on with a new one',
    async (end) => {
      open();
      const before = await pool.run('before');
      await expect(pool.run(end)).rejects.toEqual(failedFor('worker_lost'));
      const after = await pool.run('after');
      expect(after.threadId).not.toBe(before.threadId);
    },
  );

  it('do the job of a thread that died again, once', async () => {
    open();
    const deaths = new Int32Array(new SharedArrayBuffer(4));
    const answer = await pool.run({ mood: 'die once', deaths });
    expect(answer.mood).toBe('die once');
    expect(deaths[0]).toBe(2);
  });

  it('go on beside one that hangs', async () => {
    open({ workers: 2 });
    const hanging = pool.run('hang').catch((error: Error) => error);
    const answers = await Promise.all(['a', 'b', 'c'].map((mood) => pool.run(mood)));
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
    await pool.close();
    expect(await hanging).toEqual(failedFor('closed'));
  });

  it('fail a job that hangs, and do the one that waited behind it', async () => {
    // The one behind begins with a new thread, and has no more time for both.
    open({ timeoutMs: 5_000 });
    const hanging = pool.run('hang');
    const behind = pool.run('behind');
    await expect(hanging).rejects.toEqual(failedFor('timeout'));
    expect((await behind).mood).toBe('behind');
  });

  it('refuse a job when too many wait, and take it once there is room', async () => {
    open({ waiting: 1 });
    const first = pool.run('first');
    const second = pool.run('second');
    await expect(pool.run('third')).rejects.toBeInstanceOf(PdfBusy);
    await Promise.all([first, second]);
    expect((await pool.run('third')).mood).toBe('third');
  });

  it('refuse a job that waited too long, and do not do it later', async () => {
    open({ waitMs: 20 });
    const hanging = pool.run('hang').catch((error: Error) => error);
    const deaths = new Int32Array(new SharedArrayBuffer(4));
    await expect(pool.run({ mood: 'die once', deaths })).rejects.toBeInstanceOf(PdfBusy);
    await pool.close();
    await hanging;
    expect(deaths[0]).toBe(0);
  });

  it('fail what runs, what waits and what comes later once closed', async () => {
    open();
    const running = pool.run('hang');
    const waiting = pool.run('waits');
    const both = Promise.allSettled([running, waiting]);
    await pool.close();
    for (const settled of await both) {
      expect(settled).toEqual({ status: 'rejected', reason: failedFor('closed') });
    }
    await expect(pool.run('late')).rejects.toBeInstanceOf(PdfFailed);
  });

  it('say which file is missing when a thread cannot start', async () => {
    open({ file: new URL('./support/no-such-thread.mjs', import.meta.url) });
    await expect(pool.run('anything')).rejects.toMatchObject({ reason: 'worker_lost', cause: expect.any(Error) });
  });
});
