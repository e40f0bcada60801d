import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createFaultLines } from '../../../src/runtime/config/fault-lines.js';

let lines: object[];
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
});
afterEach(() => vi.useRealTimers());

const levels = ['info', 'warn', 'error'] as const;
const logger = Object.fromEntries(
  levels.map((level) => [level, (line: object) => lines.push({ level, ...line })]),
) as unknown as Parameters<typeof createFaultLines>[0]['logger'];

const fault = (code: string) => Object.assign(new Error('a text with data'), { code });

it('says the first fault of each state and kind, an error once it lasts, one in ten minutes, and the end of each', () => {
  const faults = createFaultLines({ logger, msg: 'failed' });
  for (let second = 0; second <= 700; second += 1) {
    faults.tell(fault('ECONNREFUSED'), { name: 'a' }, { stream: `s-${second}` });
    if (second < 10) faults.tell(fault('57P03'), { name: 'b' });
    vi.advanceTimersByTime(1_000);
  }
  const a = { msg: 'failed', name: 'a', error: 'Error', code: 'ECONNREFUSED' };
  const b = { msg: 'failed', name: 'b', error: 'Error', code: '57P03' };
  const overOf = (kind: object) => ({ ...kind, level: 'info', msg: 'a fault is over', of: 'failed' });
  const expected = [
    { level: 'warn', ...a, stream: 's-0' },
    { level: 'warn', ...b },
    { level: 'error', ...a, stream: 's-60', unlogged: 59 },
    { ...overOf(b), unlogged: 9, lasted_s: 9 },
    { level: 'error', ...a, stream: 's-660', unlogged: 599 },
  ];
  expect(lines).toMatchObject(expected);
  expect(lines).toHaveLength(expected.length);
  vi.advanceTimersByTime(60_000);
  expect(lines.slice(expected.length)).toMatchObject([{ ...overOf(a), unlogged: 40, lasted_s: 700 }]);
  faults.tell(fault('ECONNREFUSED'), { name: 'a' });
  expect(lines.at(-1)).toMatchObject({ level: 'warn', ...a });
  expect(lines.at(-1)).not.toHaveProperty('unlogged');
  expect(JSON.stringify(lines)).not.toContain('a text');
});

it('says the end at once when the work went well, and begins anew', () => {
  const faults = createFaultLines({ logger, msg: 'failed' });
  faults.areOver();
  for (const _round of [1, 2]) {
    faults.tell(fault('a'));
    faults.areOver();
  }
  vi.advanceTimersByTime(600_000);
  expect(lines).toMatchObject(['failed', 'a fault is over', 'failed', 'a fault is over'].map((msg) => ({ msg })));
  expect(lines).toHaveLength(4);
});

it('takes seldom tries for one fault', () => {
  const faults = createFaultLines({ logger, msg: 'failed', everyMs: 300_000 });
  for (const _try of [1, 2, 3]) {
    faults.tell(fault('a'));
    vi.advanceTimersByTime(300_000);
  }
  expect(lines).toMatchObject([{ level: 'warn' }, { level: 'error' }]);
  expect(lines).toHaveLength(2);
});
