import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilSignal } from '../../../src/runtime/commands/signals.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';

describe('a wish to stop', () => {
  const exits: (number | undefined)[] = [];
  let forced: number;
  let asked: Promise<NodeJS.Signals>;
  const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  const before = SIGNALS.map((name) => ({ name, listeners: process.listeners(name) }));
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    vi.spyOn(process, 'exit').mockImplementation(((code?: number) => void exits.push(code)) as typeof process.exit);
    for (const name of SIGNALS) process.removeAllListeners(name);
    forced = 0;
    asked = untilSignal(() => {
      forced += 1;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
    exits.splice(0);
    for (const { name, listeners } of before) {
      process.removeAllListeners(name);
      for (const listener of listeners) process.on(name, listener);
    }
  });

  it.each(SIGNALS)('is heard as %s and ends nothing by itself', async (signal) => {
    process.emit(signal, signal);
    expect(await asked).toBe(signal);
    vi.advanceTimersByTime(54_999);
    expect({ exits, forced }).toEqual({ exits: [], forced: 0 });
  });

  it('is enforced after 55 s, once it was said so', async () => {
    process.emit('SIGTERM', 'SIGTERM');
    vi.advanceTimersByTime(55_000);
    expect({ exits, forced }).toEqual({ exits: [1], forced: 1 });
  });

  it('counts once when two signals come within a second', async () => {
    process.emit('SIGINT', 'SIGINT');
    vi.advanceTimersByTime(1_000);
    process.emit('SIGTERM', 'SIGTERM');
    expect({ exits, forced }).toEqual({ exits: [], forced: 0 });
  });

  it('is enforced by a second signal that comes later', async () => {
    process.emit('SIGTERM', 'SIGTERM');
    vi.advanceTimersByTime(1_001);
    process.emit('SIGTERM', 'SIGTERM');
    expect({ exits, forced }).toEqual({ exits: [1], forced: 1 });
  });
});

describe('the runner', () => {
  it('tells everything at once that it stops, then stops part by part, the last one first', async () => {
    const calls: string[] = [];
    const runner = createRunner(() => undefined);
    for (const part of ['first', 'second']) {
      runner.onStop(part, () => void calls.push(`${part} ${runner.stopping.aborted}`));
    }
    runner.stopping.addEventListener('abort', () => calls.push('all'));
    await Promise.all([runner.stop(), runner.stop()]);
    expect(calls).toEqual(['all', 'second true', 'first true']);
  });

  it('stops the other parts when one cannot be stopped, and says which', async () => {
    const calls: string[] = [];
    const runner = createRunner((part) => calls.push(`fault of ${part}`));
    runner.onStop('first', () => void calls.push('first'));
    runner.onStop('second', () => Promise.reject(new Error('stuck')));
    await runner.stop();
    expect(calls).toEqual(['fault of second', 'first']);
  });
});
