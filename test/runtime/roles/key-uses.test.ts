import { expect, it, vi } from 'vitest';
import { createUseRecorder } from '../../../src/runtime/roles/key-uses.js';
import { movableClock } from '../../support/harness/event-store.js';

const START = '2026-11-21T12:00:00.000Z';

const recording = () => {
  const clock = movableClock(START);
  const save = vi.fn(async (_uses: ReadonlyMap<string, string>) => undefined);
  const faults: unknown[] = [];
  const recorder = createUseRecorder({ save }, clock, (error) => faults.push(error));
  return { clock, save, faults, ...recorder };
};

it('a use is written once an hour for each key, and not by the request that used it', async () => {
  const { clock, save, used, flush } = recording();
  used('key_a');
  used('key_a');
  used('key_b');
  expect(save).not.toHaveBeenCalled();
  await flush();
  expect(save.mock.calls).toEqual([
    [
      new Map([
        ['key_a', START],
        ['key_b', START],
      ]),
    ],
  ]);
  clock.pass(3_599);
  used('key_a');
  await flush();
  expect(save).toHaveBeenCalledTimes(1);
  clock.pass(1);
  used('key_a');
  await flush();
  expect(save.mock.lastCall).toEqual([new Map([['key_a', '2026-11-21T13:00:00.000Z']])]);
});

it('a use in the next hour is written however short ago the last one was: the hour is what operators are shown', async () => {
  const { clock, save, used, flush } = recording();
  clock.pass(3_590);
  used('key_a');
  clock.pass(20);
  used('key_a');
  await flush();
  expect(save.mock.lastCall).toEqual([new Map([['key_a', '2026-11-21T13:00:10.000Z']])]);
});

it('a use that could not be written is told again with the next one', async () => {
  const { save, faults, used, flush } = recording();
  save.mockRejectedValueOnce(new Error('gone'));
  used('key_a');
  await flush();
  expect(faults).toHaveLength(1);
  used('key_a');
  await flush();
  expect(save).toHaveBeenCalledTimes(2);
});
