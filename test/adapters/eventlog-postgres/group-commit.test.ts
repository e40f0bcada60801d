import { expect, it, onTestFinished, vi } from 'vitest';
import { groupCommit, type SendAppends } from '../../../src/adapters/eventlog-postgres/group-commit.js';
import type { PreparedAppend } from '../../../src/adapters/eventlog-postgres/prepared-append.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/ports/event-log.js';

const prepared = (stream: string, bytes = 100): PreparedAppend => ({ stream, expected: -1, events: [], bytes });

/** A server that remembers its batches and accepts everything. */
const accepting = () => {
  const batches: string[][] = [];
  const send: SendAppends = async (appends) => {
    batches.push(appends.map(({ stream }) => stream));
    return appends.map((_append, index) => ({ ok: true, revision: index }));
  };
  return { batches, send };
};

it('carries at most 64 appends or 1 MiB at once, in order', async () => {
  const server = accepting();
  const { append } = groupCommit(server.send, 5_000);
  const small = Array.from({ length: 70 }, (_, n) => prepared(`s${n}`));
  const large = [prepared('large', 2 ** 20 + 1), prepared('half', 2 ** 19), prepared('other half', 2 ** 19)];
  await Promise.all([...small, ...large].map((each) => append(each)));
  expect(server.batches.map((batch) => batch.length)).toEqual([64, 6, 1, 2]);
  expect(server.batches.flat()).toEqual([...small, ...large].map(({ stream }) => stream));
});

it('sends one by one what the server refused together', async () => {
  const refusal = new Error('value out of range');
  const { append } = groupCommit(async (appends) => {
    if (appends.some(({ stream }) => stream === 'bad')) throw refusal;
    return appends.map(() => ({ ok: true, revision: 0 }));
  }, 5_000);
  const results = await Promise.allSettled(['a', 'bad', 'b'].map((stream) => append(prepared(stream))));
  expect(results).toEqual([
    { status: 'fulfilled', value: { ok: true, revision: 0 } },
    { status: 'rejected', reason: refusal },
    { status: 'fulfilled', value: { ok: true, revision: 0 } },
  ]);
});

it('writes no batch again that was answered in part, because its appends may be stored', async () => {
  const sent: string[][] = [];
  const { append } = groupCommit(async (appends) => {
    sent.push(appends.map(({ stream }) => stream));
    return [{ ok: true, revision: 0 }];
  }, 5_000);
  const results = await Promise.allSettled(['a', 'b'].map((stream) => append(prepared(stream))));
  const unknown = { status: 'rejected', reason: expect.any(AppendOutcomeUnknown) };
  expect(results).toEqual([unknown, unknown]);
  expect(sent).toEqual([['a', 'b']]);
});

it('gives up the append under way at its deadline, and refuses the appends that wait', async () => {
  let lose: (() => void) | undefined;
  let aborted = false;
  const { append } = groupCommit((_appends, signal) => {
    signal.addEventListener('abort', () => {
      aborted = true;
    });
    return new Promise((_resolve, reject) => {
      lose = () => reject(new AppendOutcomeUnknown('given up'));
    });
  }, 50);
  const underWay = append(prepared('first')).catch((error: unknown) => error);
  await vi.waitUntil(() => lose !== undefined, { timeout: 60_000, interval: 1 });
  const second = append(prepared('second'));
  await expect(second).rejects.toThrow(EventLogUnavailable);
  expect(aborted).toBe(true);
  lose?.();
  expect(await underWay).toBeInstanceOf(AppendOutcomeUnknown);
});

it('does not send an append whose deadline passed while a refused append before it was sent again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: string[][] = [];
  const { append } = groupCommit(async (appends) => {
    sent.push(appends.map(({ stream }) => stream));
    if (appends.length > 1) throw new Error('value out of range');
    vi.advanceTimersByTime(50);
    throw new AppendOutcomeUnknown('given up');
  }, 50);
  const results = await Promise.allSettled(['slow', 'late'].map((stream) => append(prepared(stream))));
  const faults = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
  expect(faults).toEqual([expect.any(AppendOutcomeUnknown), expect.any(EventLogUnavailable)]);
  expect(sent).toEqual([['slow', 'late'], ['slow']]);
});

it('works again after it was idle, and never after it was closed', async () => {
  const server = accepting();
  const { append, close } = groupCommit(server.send, 5_000);
  await append(prepared('a'));
  await append(prepared('b'));
  await close();
  await expect(append(prepared('c'))).rejects.toThrow(EventLogUnavailable);
  expect(server.batches).toEqual([['a'], ['b']]);
});
