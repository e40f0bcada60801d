import { describe, expect, it } from 'vitest';
import { createPace, pacedAs } from '../../../src/runtime/roles/pacing.js';

describe('the pace of one caller', () => {
  const paceAt = (time: { ms: number }) => createPace({ burst: 3, everyMs: 10, longestMs: 35 }, () => time.ms);

  it('lets a burst through, then one answer in each interval, and none waits longer than the longest time', () => {
    const waitOf = paceAt({ ms: 5_000 });
    expect(Array.from({ length: 8 }, () => waitOf('a'))).toEqual([0, 0, 0, 10, 20, 30, 35, 35]);
  });

  it('is the caller’s own', () => {
    const waitOf = paceAt({ ms: 5_000 });
    for (let n = 0; n < 8; n += 1) waitOf('a');
    expect(waitOf('b')).toBe(0);
  });

  it('comes back with the time, to the burst at most', () => {
    const time = { ms: 5_000 };
    const waitOf = paceAt(time);
    for (let n = 0; n < 8; n += 1) waitOf('a');
    time.ms += 45;
    expect([waitOf('a'), waitOf('a')]).toEqual([0, 10]);
    time.ms += 60_000;
    expect(Array.from({ length: 4 }, () => waitOf('a'))).toEqual([0, 0, 0, 10]);
  });
});

it.each([
  ['key_3da57f38', 'key_3da57f38'],
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', ':0:0:0'],
])('the caller %s is paced as %s', (caller, paced) => {
  expect(pacedAs(caller)).toBe(paced);
});
