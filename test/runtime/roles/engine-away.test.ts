import { afterEach, expect, it, vi } from 'vitest';
import { allProjections } from '../../../projections/registry.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import type { IssuingDeps } from '../../../src/runtime/roles/issuer.js';
import { runParametersRefresh } from '../../../src/runtime/roles/parameters-refresh.js';
import type { Parts } from '../../../src/runtime/roles/parts.js';
import { startProjector } from '../../../src/runtime/roles/projector.js';
import { runReconciliation } from '../../../src/runtime/roles/reconciliation.js';
import { runRelayRole } from '../../../src/runtime/roles/relay.js';
import { runKeyDestruction, runSweeper } from '../../../src/runtime/roles/sweeper.js';
import { createWorkFaults } from '../../../src/runtime/roles/workers.js';
import type { Sweeper } from '../../../src/workers/sweeper.js';
import { clock } from '../../support/harness/projector.js';

afterEach(() => vi.useRealTimers());

const away = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

/** Parts of a process whose database refuses each connection, and what it logs. */
const partsWithoutDatabase = () => {
  const state = { tries: 0 };
  const lines: object[] = [];
  const refuse = () => {
    state.tries += 1;
    return Promise.reject(away());
  };
  const logger = Object.fromEntries(
    ['info', 'warn', 'error', 'fatal'].map((level) => [level, (line: object) => lines.push({ level, ...line })]),
  );
  const parts = {
    engines: { pool: { connect: refuse, query: refuse, options: {} }, log: {}, guards: {} },
    clock,
    config: {
      sweepSeconds: 0.02,
      authorizer: { test: 'https://localhost/SefinNacional' },
      simulator: { elsewhere: [] },
      authorizerRoots: [],
      parameters: {},
      reconcile: { paceSeconds: 0.02, samplePercent: 1 },
      distribution: { everySeconds: 0, paceSeconds: 0.02 },
    },
    logger,
    queue: { isDurable: true, status: () => ({ ok: true }) },
    runner: { onStop: () => undefined },
    diskSpace: { record: () => undefined },
  } as unknown as Parts;
  return { parts, lines, state };
};

/** Of DATABASE_CONNECT_TIMEOUT_S. */
const LONGEST_CONNECT_MS = 60_000;

const deps = { breaker: { isAnswering: () => true } } as unknown as IssuingDeps;

it.each([
  [
    'projector',
    'a projection failed and is tried again',
    (parts: Parts, signal: AbortSignal) => {
      const guards = { whileLogCoversCheckpoint: (_: AbortSignal, work: (s: AbortSignal) => unknown) => work(signal) };
      startProjector({ ...parts, guards } as unknown as Parts, new Set());
    },
  ],
  [
    'relay',
    'the relay failed and is tried again',
    (parts: Parts, signal: AbortSignal) => runRelayRole(null, parts, signal),
  ],
  ['sweeper', 'a sweep failed', (parts: Parts, signal: AbortSignal) => runSweeper({} as Sweeper, parts, signal)],
  [
    'end of test days',
    'the keys of past test days were not destroyed',
    (parts: Parts, signal: AbortSignal) => {
      const sealingKeys = { destroyDayKeys: () => parts.engines.pool.query('delete') };
      return runKeyDestruction({ ...parts, engines: { ...parts.engines, sealingKeys } } as unknown as Parts, signal);
    },
  ],
  [
    'issuer',
    'reconciliation failed and continues',
    (parts: Parts, signal: AbortSignal) => runReconciliation(deps, parts, signal),
  ],
] as const)('the %s says once that the database is away, and as an error once that lasts', async (_role, msg, run) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { parts, lines, state } = partsWithoutDatabase();
  const stop = new AbortController();
  const running = run(parts, stop.signal);
  await expect.poll(() => state.tries).toBeGreaterThan(3);
  const line = { msg, error: 'Error', code: 'ECONNREFUSED' };
  expect(lines).toEqual([expect.objectContaining({ level: 'warn', ...line })]);
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => lines.length).toBe(2);
  const { tries } = state;
  await expect.poll(() => state.tries).toBeGreaterThan(tries + 2);
  expect(lines.slice(1)).toEqual([
    expect.objectContaining({ level: 'error', ...line, unlogged: expect.any(Number) as unknown }),
  ]);
  stop.abort();
  await running;
});

it('the projector calls no fault over while a silent database keeps its projections waiting one after the other', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  const { parts, lines } = partsWithoutDatabase();
  const connectionTimeoutMillis = 20_000;
  let giveUp: (() => void) | undefined;
  const connect = () =>
    new Promise((_resolve, reject) => {
      giveUp = () => reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }));
    });
  const live = { role: 'live', logIdentity: 'l', position: null };
  const rows = allProjections.map(({ name, version }) => ({ ...live, name, version }));
  const pool = { connect, query: async () => ({ rows }), options: { connectionTimeoutMillis } };
  const stop = new AbortController();
  const guards = { whileLogCoversCheckpoint: (_: AbortSignal, work: (s: AbortSignal) => unknown) => work(stop.signal) };
  const engines = { ...parts.engines, pool, log: { identity: async () => 'l' } };
  startProjector({ ...parts, engines, guards } as unknown as Parts, new Set());
  const said = (level: string) => lines.filter((line) => 'level' in line && line.level === level);
  for (let tries = 0; tries < 3 * allProjections.length; tries += 1) {
    await expect.poll(() => giveUp, { timeout: 15_000 }).toBeDefined();
    vi.advanceTimersByTime(connectionTimeoutMillis);
    giveUp?.();
    giveUp = undefined;
  }
  const ofEach = allProjections.map(({ name }) => expect.objectContaining({ name, code: 'ETIMEDOUT' }) as unknown);
  await expect.poll(() => said('error').length, { timeout: 15_000 }).toBe(ofEach.length);
  expect([said('info'), said('warn')]).toEqual([[], expect.arrayContaining(ofEach)]);
  expect(said('error')).toEqual(expect.arrayContaining(ofEach));
  stop.abort();
}, 40_000);

it.each([
  [
    'relay',
    'the relay failed and is tried again',
    1_000,
    (parts: Parts, signal: AbortSignal) => runRelayRole(null, parts, signal),
  ],
  [
    'refresh of municipal parameters',
    'refreshing municipal parameters failed',
    5_000,
    (parts: Parts, signal: AbortSignal) => runParametersRefresh(parts, signal),
  ],
] as const)(
  'the %s calls no fault over while each try waits for a silent database as long as a connection may take',
  async (_role, msg, pauseMs, run) => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const { parts, lines } = partsWithoutDatabase();
    let giveUp: (() => void) | undefined;
    const connect = () =>
      new Promise((_resolve, reject) => {
        giveUp = () => reject(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' }));
      });
    const engines = { ...parts.engines, pool: { ...parts.engines.pool, connect }, readModel: {} };
    const stop = new AbortController();
    const running = run({ ...parts, engines } as unknown as Parts, stop.signal);
    for (let tries = 0; tries < 2; tries += 1) {
      await expect.poll(() => giveUp).toBeDefined();
      vi.advanceTimersByTime(LONGEST_CONNECT_MS);
      giveUp?.();
      giveUp = undefined;
      await new Promise(setImmediate);
      // Pauses of roles pass in real time.
      vi.advanceTimersByTime(pauseMs);
    }
    const line = { msg, code: 'ETIMEDOUT' };
    expect(lines).toMatchObject([
      { level: 'warn', ...line },
      { level: 'error', ...line },
    ]);
    stop.abort();
    await running;
  },
);

it('work on many streams says once that an engine is away, and each other fault with its stream', () => {
  const { parts, lines } = partsWithoutDatabase();
  const onFault = createWorkFaults(parts);
  const streams = [1, 2, 3].map((n) =>
    invoiceStream('live', '12345678000195', `11111111-1111-4111-8111-11111111111${n}`),
  );
  for (const stream of streams) onFault(stream, away());
  expect(lines).toEqual([expect.objectContaining({ stream: streams[0], code: 'ECONNREFUSED' })]);
  for (const stream of streams) onFault(stream, new TypeError('x'));
  expect(lines.slice(1)).toEqual(streams.map((stream) => expect.objectContaining({ stream, error: 'TypeError' })));
});

it('work on one stream, which is tried each minute at last, is no fault that is over between two tries', () => {
  vi.useFakeTimers();
  const { parts, lines } = partsWithoutDatabase();
  const onFault = createWorkFaults(parts);
  const stream = invoiceStream('live', '12345678000195', '11111111-1111-4111-8111-111111111111');
  // As `runIssuer` waits, and then for a database that is silent.
  for (const pauseMs of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]) {
    onFault(stream, away());
    vi.advanceTimersByTime(pauseMs + 5_000);
  }
  expect(lines).toMatchObject([{ level: 'warn' }, { level: 'error' }]);
  vi.advanceTimersByTime(200_000);
  expect(lines.slice(2)).toMatchObject([{ level: 'info', msg: 'a fault is over', lasted_s: 229 }]);
});
