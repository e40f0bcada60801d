import { afterEach, describe, expect, it } from 'vitest';
import { PdfBusy, PdfFailed } from '../../../src/adapters/pdf/errors.js';
import { createPool, type Pool } from '../../../src/adapters/pdf/pool.js';

type Answer = { mood: string; threadId: number };

let pool: Pool<string, Answer>;

const open = (options: { workers?: number; waiting?: number; timeoutMs?: number } = {}) => {
  const file = new URL('./support/moody-thread.mjs', import.meta.url);
  pool = createPool({ file, workers: 1, waiting: 8, timeoutMs: 10_000, ...options });
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

  it.each(['throw', 'exit'])('fail the job of a thread that dies (%s) and go on with a new one', async (end) => {
    open();
    const before = await pool.run('before');
    await expect(pool.run(end)).rejects.toEqual(failedFor('worker_lost'));
    const after = await pool.run('after');
    expect(after.threadId).not.toBe(before.threadId);
  });

  it('fail a job that hangs, and do the one that waited behind it', async () => {
    open({ timeoutMs: 2_000 });
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
    pool = createPool({
      file: new URL('./support/no-such-thread.mjs', import.meta.url),
      workers: 1,
      waiting: 1,
      timeoutMs: 10_000,
    });
    await expect(pool.run('anything')).rejects.toMatchObject({ reason: 'worker_lost', cause: expect.any(Error) });
  });
});
