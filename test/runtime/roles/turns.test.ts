import { expect, it } from 'vitest';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';
import { createTurns } from '../../../src/runtime/roles/turns.js';

it.each(['commands', 'reads'] as const)(
  '%s of a company beside another: few under way, and more is refused at an end',
  async (kind) => {
    const turns = createTurns();
    const counts = { flooding: 0, other: 0 };
    const waiting: (() => void)[] = [];
    const run = (owner: keyof typeof counts) =>
      turns[kind](owner, async () => {
        counts[owner] += 1;
        await new Promise<void>((resolve) => waiting.push(resolve));
      });
    const other = run('other');
    const flood = Array.from({ length: 600 }, () =>
      run('flooding').then(
        () => 'done',
        (error: unknown) => error,
      ),
    );
    const begun = counts.flooding;
    expect(begun).toBeLessThanOrEqual(2);
    // A further task of the other company waits for none of these.
    const second = run('other');
    expect(counts).toEqual({ flooding: begun, other: 2 });
    // A company that floods rests between its tasks.
    while (counts.flooding < 512 + begun || waiting.length > 0) {
      for (const end of waiting.splice(0)) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([other, second]);
    const ends = await Promise.all(flood);
    expect(ends.filter((end) => end instanceof TooManyWaiting)).toHaveLength(600 - 512 - begun);
    expect(counts.flooding).toBe(512 + begun);
  },
);

/** Tasks that wait for `end`; `begun` counts those under way. */
const held = () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const tasks = { begun: 0, end: () => end() };
  const task = () => {
    tasks.begun += 1;
    return ended;
  };
  return { tasks, task };
};

it('leaves a company that is alone more room, and not all connections of the database', async () => {
  const { reads } = createTurns();
  const { tasks, task } = held();
  const all = Array.from({ length: 100 }, () => reads('alone', task));
  expect(tasks.begun).toBe(32);
  tasks.end();
  await Promise.all(all);
});

it('takes a company that only reads for there when another one only writes', async () => {
  const { commands, reads } = createTurns();
  await reads('other', async () => undefined);
  const { tasks, task } = held();
  const flood = Array.from({ length: 100 }, () => commands('flooding', task));
  expect(tasks.begun).toBe(2);
  tasks.end();
  await Promise.all(flood);
});

it('works on two issues at once while several companies are present, and on all while one is alone', async () => {
  const { issues, reads } = createTurns();
  const alone = held();
  const all = Array.from({ length: 10 }, () => issues('a', alone.task));
  expect(alone.tasks.begun).toBe(10);
  await reads('a', async () => undefined);
  await reads('b', async () => undefined);
  const beside = held();
  const others = Array.from({ length: 10 }, () => issues('a', beside.task));
  expect(beside.tasks.begun).toBe(2);
  alone.tasks.end();
  beside.tasks.end();
  await Promise.all([...all, ...others]);
  expect(beside.tasks.begun).toBe(10);
});

it('lets the issues of a company whose answers come late hold up no other company', async () => {
  const { issues, reads } = createTurns();
  await reads('slow', async () => undefined);
  await reads('other', async () => undefined);
  const late = held();
  const waiting = Array.from({ length: 20 }, () => issues('slow', late.task));
  const other = await issues('other', async () => late.tasks.begun);
  expect(other).toBeLessThanOrEqual(4);
  late.tasks.end();
  await Promise.all(waiting);
  expect(late.tasks.begun).toBe(20);
});

it('refuses none of the issues of both modes that the queue gives one company', async () => {
  const { issues, reads } = createTurns();
  await reads('a', async () => undefined);
  await reads('b', async () => undefined);
  const { tasks, task } = held();
  const all = Promise.all(Array.from({ length: 128 }, () => issues('a', task)));
  tasks.end();
  await expect(all).resolves.toHaveLength(128);
});
