import { describe, expect, it } from 'vitest';
import { connectionLimits, openFilesLimit, warnOfDrops } from '../../../src/runtime/config/connection-limits.js';
import type { Logger } from '../../../src/runtime/config/logger.js';

describe('connections at once', () => {
  it.each([
    [1_024, 20, { api: 508, ops: 63 }],
    [4_096, 20, { api: 2_966, ops: 200 }],
    [1_048_576, 20, { api: 10_000, ops: 200 }],
    [512, 20, { api: 99, ops: 12 }],
    [256, 20, { api: 32, ops: 8 }],
    [64, 20, { api: 32, ops: 8 }],
  ])('of %i descriptors, with a pool of %i', (descriptors, poolSize, expected) => {
    expect(connectionLimits(descriptors, poolSize)).toEqual(expected);
  });

  it('leave descriptors for everything else, whatever the limit and the pool', () => {
    for (let descriptors = 512; descriptors < 70_000; descriptors += 777)
      for (const poolSize of [10, 100]) {
        const { api, ops } = connectionLimits(descriptors, poolSize);
        expect(api + ops + poolSize).toBeLessThan(descriptors - 100);
      }
  });

  it('can be fewer by the operator’s will, never more', () => {
    expect(connectionLimits(1_024, 20, 100).api).toBe(100);
    expect(connectionLimits(1_024, 20, 9_000).api).toBe(508);
  });

  it('are counted from what this process may open', () => {
    expect(openFilesLimit()).toBeGreaterThanOrEqual(64);
  });
});

it('connections that are turned away are told of once a minute', () => {
  const lines: object[] = [];
  const onDrop = warnOfDrops({ warn: (line: object) => lines.push(line) } as unknown as Logger, 'public api');
  for (let n = 0; n < 1_000; n += 1) onDrop();
  expect(lines).toEqual([expect.objectContaining({ server: 'public api', dropped: 1 })]);
});
