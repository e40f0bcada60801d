import { afterEach, describe, expect, it } from 'vitest';
import { createPresence, TooManyWaiting } from '../../src/lib/fair-semaphore.js';
import { createThreadPool, JobFailed, type ThreadPool, type ThreadPoolOptions } from '../../src/lib/thread-pool.js';

type Answer = { mood: string; threadId: number };

type Request = string | { mood: string; deaths: Int32Array };

const OWNER = 'one';

let pool: ThreadPool<Request, Answer>;

const usual: ThreadPoolOptions = {
  what: 'jobs',
  file: new URL('./support/moody-thread.mjs', import.meta.url),
  workers: 1,
  waitMs: 60_000,
  timeoutMs: 60_000,
  startMs: 0,
  heapMb: 64,
};

const open = (options: Partial<ThreadPoolOptions> = {}) => {
  pool = createThreadPool({ ...usual, ...options });
  return pool;
};

afterEach(() => pool.close());

const failedFor = (reason: string) => expect.objectContaining({ name: 'JobFailed', reason });

describe('the threads that draw', () => {
  it('answer each job with its own answer, on one thread', async () => {
    open();
    const answers = await Promise.all(['a', 'b', 'c'].map((mood) => pool.run(OWNER, mood)));
    expect(answers.map(({ mood }) => mood)).toEqual(['a', 'b', 'c']);
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
  });

  it.each(['throw', 'exit', 'hoard'])(
    'fail the job that kills two of them (%s) and go on with a new one',
    async (end) => {
      open();
      const before = await pool.run(OWNER, 'before');
      await expect(pool.run(OWNER, end)).rejects.toEqual(failedFor('worker_lost'));
      const after = await pool.run(OWNER, 'after');
      expect(after.threadId).not.toBe(before.threadId);
    },
  );

  it('are given the time of their start beside that of their first job', async () => {
    const file = new URL('./support/slow-start-thread.mjs', import.meta.url);
    open({ file, timeoutMs: 1_200, startMs: 120_000 });
    const { threadId } = await pool.run(OWNER, 'first');
    expect(await pool.run(OWNER, 'second')).toEqual({ mood: 'second', threadId });
  });

  it('do the job of a thread that died again, once', async () => {
    open();
    const deaths = new Int32Array(new SharedArrayBuffer(4));
    const answer = await pool.run(OWNER, { mood: 'die once', deaths });
    expect(answer.mood).toBe('die once');
    expect(deaths[0]).toBe(2);
  });

  it('refuse a request that cannot be copied, and do the one that waited behind it', async () => {
    open();
    const before = pool.run(OWNER, 'before');
    const refused = pool.run(OWNER, (() => 'a function') as unknown as Request);
    const behind = pool.run(OWNER, 'behind');
    await expect(refused).rejects.toEqual(failedFor('unsendable'));
    expect((await behind).threadId).toBe((await before).threadId);
  });

  it('go on beside one that hangs', async () => {
    open({ workers: 2 });
    const hanging = pool.run(OWNER, 'hang').catch((error: Error) => error);
    const answers = await Promise.all(['a', 'b', 'c'].map((mood) => pool.run(OWNER, mood)));
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(1);
    await pool.close();
    expect(await hanging).toEqual(failedFor('closed'));
  });

  it('fail a job that hangs, and do the one that waited behind it', async () => {
    // The next job begins with a new thread, and its time limit covers both.
    open({ timeoutMs: 5_000 });
    const hanging = pool.run(OWNER, 'hang');
    const behind = pool.run(OWNER, 'behind');
    await expect(hanging).rejects.toEqual(failedFor('timeout'));
    expect((await behind).mood).toBe('behind');
  });

  it('give the job of a thread that hangs to another one, once, behind those that waited for it', async () => {
    open({ timeoutMs: 5_000 });
    const tries = new Int32Array(new SharedArrayBuffer(4));
    const done: string[] = [];
    const hanging = pool.run(OWNER, { mood: 'hang once', deaths: tries }).then(({ mood }) => done.push(mood));
    const behind = pool.run(OWNER, 'behind').then(({ mood }) => done.push(mood));
    await Promise.all([hanging, behind]);
    expect(done).toEqual(['behind', 'hang once']);
    expect(tries[0]).toBe(2);
  });

  it('go on in another thread beside the only one when it is late, which still ends its job', async () => {
    open({ patienceMs: 100 });
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const late = pool.run(OWNER, { mood: 'wait', deaths: gate });
    const others = await Promise.all(['a', 'b'].map((mood) => pool.run('other', mood)));
    expect(others.map(({ mood }) => mood)).toEqual(['a', 'b']);
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    const { threadId } = await late;
    expect(others.map((other) => other.threadId)).not.toContain(threadId);
  });

  it('are ready for the first job once warmed, each started once and with one job', async () => {
    open({ workers: 2 });
    const warmed = new Int32Array(new SharedArrayBuffer(4));
    await pool.warm({ mood: 'count', deaths: warmed });
    await pool.warm({ mood: 'count', deaths: warmed });
    expect(warmed[0]).toBe(2);
    const { threadId: before } = await pool.run(OWNER, 'first');
    const after = await Promise.all(['a', 'b'].map((mood) => pool.run(OWNER, mood)));
    expect(after.map(({ threadId }) => threadId)).toContain(before);
    await pool.warm({ mood: 'count', deaths: warmed });
    expect(warmed[0]).toBe(2);
  });

  it.each([
    ['dies', 'exit', {}],
    ['hangs', 'hang', { timeoutMs: 2_000 }],
    ['has no file', 'any', { file: new URL('./support/no-such-thread.mjs', import.meta.url) }],
  ])('are not warmed again and harm nobody when one %s meanwhile', async (_name, mood, options) => {
    open({ workers: 2, ...options });
    await pool.warm(mood);
    if (mood !== 'any') expect((await pool.run(OWNER, 'after')).mood).toBe('after');
  });

  it('take turns by owner: a job is next or second, however many of another wait', async () => {
    open();
    const done: string[] = [];
    const run = (owner: string, mood: string) => pool.run(owner, mood).then(() => done.push(owner));
    const flood = Array.from({ length: 200 }, (_, index) => run('flooding', `f${index}`));
    await flood[0];
    const before = done.length;
    const others = [run('other', 'o1'), run('other', 'o2'), run('third', 't1')];
    await Promise.all(others);
    const since = done.slice(before);
    // The one under way, and at most one of the flooding owner between two of the others.
    expect(since.indexOf('other')).toBeLessThanOrEqual(2);
    expect(since.indexOf('third')).toBeLessThanOrEqual(3);
    expect(since.lastIndexOf('other')).toBeLessThanOrEqual(6);
    await Promise.all(flood);
    expect(done).toHaveLength(203);
  });

  it('leave one of several to the others, once others have jobs', async () => {
    open({ workers: 2 });
    await pool.run('other', 'first');
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const flood = [1, 2, 3].map(() => pool.run('flooding', { mood: 'wait', deaths: gate }));
    expect((await pool.run('other', 'another')).mood).toBe('another');
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await Promise.all(flood);
  });

  it('rest after a job of an owner of whom many wait while others are present, so that the next of another comes first', async () => {
    const presence = createPresence();
    presence.see('flooding');
    presence.see('other');
    open({ presence });
    const done: string[] = [];
    const run = (owner: string, mood: string) => pool.run(owner, mood).then(() => done.push(mood));
    const flood = Array.from({ length: 10 }, (_, n) => run('flooding', `f${n}`));
    await flood[0];
    await run('third', 't1');
    await Promise.all(flood);
    expect(done.slice(0, 3)).toEqual(['f0', 't1', 'f1']);
  });

  it('do a job again that lost its thread before the others of its owner', async () => {
    open();
    const deaths = new Int32Array(new SharedArrayBuffer(4));
    const done: string[] = [];
    const run = (owner: string, request: Request) => pool.run(owner, request).then(({ mood }) => done.push(mood));
    await Promise.all([run('one', { mood: 'die once', deaths }), run('one', 'behind'), run('two', 'another')]);
    expect(done[0]).toBe('die once');
  });

  it('refuse a job that waited too long, and do not do it later', async () => {
    open({ waitMs: 20 });
    const hanging = pool.run(OWNER, 'hang').catch((error: Error) => error);
    const deaths = new Int32Array(new SharedArrayBuffer(4));
    await expect(pool.run(OWNER, { mood: 'die once', deaths })).rejects.toEqual(new TooManyWaiting('jobs', 'all'));
    await pool.close();
    await hanging;
    expect(deaths[0]).toBe(0);
  });

  it('fail what runs, what waits and what comes later once closed', async () => {
    open();
    const running = pool.run(OWNER, 'hang');
    const waiting = pool.run(OWNER, 'waits');
    const both = Promise.allSettled([running, waiting]);
    await pool.close();
    for (const settled of await both) {
      expect(settled).toEqual({ status: 'rejected', reason: failedFor('closed') });
    }
    await expect(pool.run(OWNER, 'late')).rejects.toBeInstanceOf(JobFailed);
  });

  it('say which file is missing when a thread cannot start', async () => {
    open({ file: new URL('./support/no-such-thread.mjs', import.meta.url) });
    await expect(pool.run(OWNER, 'anything')).rejects.toMatchObject({
      reason: 'worker_lost',
      cause: expect.any(Error),
    });
  });
});
