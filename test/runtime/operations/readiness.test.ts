import { describe, expect, it } from 'vitest';
import { EventLogUnavailable, type LogPosition } from '../../../src/ports/event-log.js';
import { createReadiness, type ReadinessDeps } from '../../../src/runtime/operations/readiness.js';
import type { GuardReadiness } from '../../../src/workers/guard-readiness.js';

const lagging = (name: string, lagSeconds: number) => ({ statuses: [{ name, lagSeconds }], others: [] });

const at = (place: number): LogPosition => BigInt(place) as LogPosition;

const rebuilding = (waitsFor: 'guards' | 'operator rows') => (): GuardReadiness => ({
  kind: 'rebuilding',
  position: at(4),
  upTo: at(10),
  waitsFor,
});

const healthy = (): ReadinessDeps => ({
  state: { phase: 'serving', halted: new Set() },
  watch: { isReadOnly: async () => false },
  isDiskFull: () => false,
  logHead: async () => 1n,
  queueStatus: () => ({ ok: true }),
  projections: async () => lagging('invoices', 0.5),
  guards: () => ({ kind: 'complete' }),
  vault: async () => ({ wrongKey: 0 }),
});

const sqlError = (code: string): Error => Object.assign(new Error('with a value of somebody in it'), { code });

const fails = (error: unknown) => () => Promise.reject(error);
const silent = () => new Promise<never>(() => {});

const reasonsOf = async (changes: Partial<ReadinessDeps>): Promise<readonly string[]> => {
  const { ready, reasons } = await createReadiness({ ...healthy(), ...changes }, 50)();
  expect(ready).toBe(reasons.length === 0);
  return reasons;
};

describe('readiness', () => {
  it('shows the lag and every engine when all is well', async () => {
    expect(await createReadiness(healthy())()).toEqual({
      ready: true,
      reasons: [],
      lag_s: 0.5,
      checks: {
        serving: { ok: true },
        database: { ok: true },
        event_log: { ok: true },
        queue: { ok: true },
        projections: { ok: true, lag_s: 0.5, lags: { invoices: 0.5 } },
        guards: { ok: true },
        certificate_vault: { ok: true },
      },
    });
  });

  it.each<[string, Partial<ReadinessDeps>]>([
    ['serving: not yet serving', { state: { phase: 'starting', halted: new Set() } }],
    ['serving: draining', { state: { phase: 'draining', halted: new Set() } }],
    ['database: unreachable', { watch: { isReadOnly: fails(sqlError('ECONNREFUSED')) } }],
    ['database: read-only', { watch: { isReadOnly: async () => true } }],
    ['database: no disk space', { watch: { isReadOnly: fails(sqlError('53100')) } }],
    ['database: no disk space', { isDiskFull: () => true }],
    ['database: failed (Error)', { watch: { isReadOnly: fails(sqlError('XX000')) } }],
    ['database: no answer within 0.05 s', { watch: { isReadOnly: silent } }],
    ['event_log: unreachable', { logHead: fails(new EventLogUnavailable('gone')) }],
    ['event_log: no answer within 0.05 s', { logHead: silent }],
    [
      'queue: takes no work items (JetStream 10023)',
      { queueStatus: () => ({ ok: false, reason: 'JetStream 10023', isConnected: true }) },
    ],
    [
      'queue: may keep work away (not permitted: publish $JS.ACK.nfse-work.>)',
      {
        queueStatus: () => ({ ok: false, reason: 'not permitted: publish $JS.ACK.nfse-work.>', isPartial: true }),
      },
    ],
    ['queue: disconnected (CONNECTION_REFUSED)', { queueStatus: () => ({ ok: false, reason: 'CONNECTION_REFUSED' }) }],
    ['projections: invoices halted', { state: { phase: 'serving', halted: new Set(['invoices']) } }],
    ['projections: deadlines lags 31 s behind the log', { projections: async () => lagging('deadlines', 31) }],
    ['projections: no answer within 0.05 s', { projections: silent }],
    [
      'projections: invoices halted; no answer within 0.05 s',
      { projections: silent, state: { phase: 'serving', halted: new Set(['invoices']) } },
    ],
    ['guards: not yet compared with the log', { guards: () => ({ kind: 'unknown' }) }],
    ['guards: rebuilding (40 % of the log)', { guards: rebuilding('guards') }],
    ['guards: rebuilding (waiting for the projector)', { guards: rebuilding('operator rows') }],
    [
      'guards: the log ends at 5, before 9 that the database was made from: issuing is paused',
      { guards: () => ({ kind: 'log incomplete', head: at(5), furthest: at(9), isOther: false }) },
    ],
    [
      'guards: the log, which ends at 170, was restored or has lost its end, and is not yet compared with the authorizer: issuing is paused',
      { guards: () => ({ kind: 'log incomplete', head: at(170), furthest: null, isOther: false }) },
    ],
    [
      'guards: the log, which ends at 12, was restored or has lost its end, and is not yet compared with the authorizer: issuing is paused',
      { guards: () => ({ kind: 'log incomplete', head: at(12), furthest: at(9), isOther: false }) },
    ],
    ['certificate_vault: 2 certificates are sealed under another master key', { vault: async () => ({ wrongKey: 2 }) }],
    ['certificate_vault: unreachable', { vault: fails(sqlError('57P01')) }],
  ])('says %s', async (reason, changes) => {
    expect(await reasonsOf(changes)).toEqual([reason]);
  });

  it('says everything that is wrong at once', async () => {
    const reasons = await reasonsOf({ logHead: silent, watch: { isReadOnly: async () => true } });
    expect(reasons).toEqual(['database: read-only', 'event_log: no answer within 0.05 s']);
  });

  it('has no lag to show when nobody can tell it', async () => {
    expect(await createReadiness({ ...healthy(), projections: silent }, 50)()).toMatchObject({ lag_s: null });
  });

  it('forgives the lag of rows that a newer version is being built for, if they can be read', async () => {
    const behind = (readable: boolean) => async () => ({
      ...lagging('invoices', 300),
      others: [{ name: 'invoices', older: true, readable }],
    });
    expect(await reasonsOf({ projections: behind(true) })).toEqual([]);
    expect(await reasonsOf({ projections: behind(false) })).toEqual([
      'projections: invoices has rows of an older version',
    ]);
  });

  it('knows its own state at once, however fresh the answers of the engines are', async () => {
    const deps = healthy();
    const readiness = createReadiness(deps);
    expect((await readiness()).ready).toBe(true);
    deps.state.halted.add('invoices');
    deps.state.phase = 'draining';
    expect((await readiness()).reasons).toEqual(['serving: draining', 'projections: invoices halted']);
  });
});
