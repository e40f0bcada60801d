import { afterEach, expect, it, vi } from 'vitest';
import { createRunner } from '../../../src/runtime/engines/runner.js';

const warned = vi.fn();
process.on('warning', warned);
afterEach(() => {
  process.off('warning', warned);
});

it('stops in reverse order, tells faults, and goes on behind them', async () => {
  const told: string[] = [];
  const runner = createRunner((name) => void told.push(`fault ${name}`));
  for (const name of ['first', 'second', 'third'])
    runner.onStop(name, () => {
      told.push(name);
      if (name === 'second') throw new Error('private');
    });
  await Promise.all([runner.stop(), runner.stop()]);
  expect(told).toEqual(['third', 'second', 'fault second', 'first']);
});

it('lets any number of loops wait for the stop without a warning of a leak', async () => {
  const { stopping } = createRunner(() => undefined);
  for (let loop = 0; loop < 50; loop += 1) stopping.addEventListener('abort', () => undefined);
  await new Promise(setImmediate);
  expect(warned).not.toHaveBeenCalled();
});
