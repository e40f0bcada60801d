import { afterEach, expect, it, vi } from 'vitest';
import { pull } from '../../../src/adapters/queue-nats/pull.js';

afterEach(() => vi.useRealTimers());

it('leaves no timer behind when a heartbeat comes while a stopped request drains', async () => {
  vi.useFakeTimers();
  let callback: (error: null, message: unknown) => void = () => undefined;
  const heartbeat = { headers: { code: 100, description: 'Idle Heartbeat' }, data: new Uint8Array(), subject: 'x' };
  const drain = async () => callback(null, heartbeat);
  const nc = {
    subscribe: (_inbox: string, options: { callback: typeof callback }) => {
      callback = options.callback;
      return { drain, unsubscribe: () => undefined };
    },
    publish: () => undefined,
  };
  const stop = new AbortController();
  const ended = pull({
    session: { nc, lost: new AbortController().signal } as never,
    stream: 's',
    consumer: 'c',
    batch: 5,
    heartbeatMs: 5_000,
    signal: stop.signal,
    onMessage: () => undefined,
  });
  stop.abort();
  expect(await ended).toBe('stopped');
  expect(vi.getTimerCount()).toBe(0);
});
