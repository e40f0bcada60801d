import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createQueueLines } from '../../../src/runtime/engines/work-queue.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

it('says as an error that the queue is still away after a minute, and nothing so when it came back before', () => {
  const told: string[] = [];
  const logger = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [
      level,
      (line: { notice: string }) => told.push(`${level} ${line.notice}`),
    ]),
  ) as unknown as Parameters<typeof createQueueLines>[0];
  const lines = createQueueLines(logger);
  lines.tell({ kind: 'connected' });
  lines.opened();
  lines.tell({ kind: 'disconnected', code: 'a' });
  vi.advanceTimersByTime(59_000);
  lines.tell({ kind: 'connected' });
  vi.advanceTimersByTime(600_000);
  expect(told).toEqual(['debug connected', 'warn disconnected', 'info connected']);
  lines.tell({ kind: 'disconnected', code: 'a' });
  vi.advanceTimersByTime(60_000);
  lines.tell({ kind: 'connection_failed', code: 'b' });
  lines.tell({ kind: 'put_failed', code: 'b' });
  expect(told.slice(3)).toEqual([
    'warn disconnected',
    'error disconnected',
    'error connection_failed',
    'warn put_failed',
  ]);
});
