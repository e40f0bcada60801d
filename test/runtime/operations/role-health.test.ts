import { describe, expect, it } from 'vitest';
import type { OpenWork } from '../../../src/adapters/read-model-postgres/monitoring-reads.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { createRelayLag, unlessLost } from '../../../src/runtime/operations/console.js';
import type { Readiness } from '../../../src/runtime/operations/readiness.js';
import { type RoleSources, roleHealth } from '../../../src/runtime/operations/role-health.js';
import { limits, T0 } from '../../support/fixture/invoice.js';
import { chained, NONE } from '../../support/harness/event-log.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const ok = { ok: true } as const;
const projections = { ...ok, lag_s: 0, lags: {} };
const readiness: Readiness = {
  ready: true,
  reasons: [],
  lag_s: 0,
  checks: { serving: ok, database: ok, event_log: ok, queue: ok, projections, guards: ok, certificate_vault: ok },
};

const sources = (changes: Partial<RoleSources> = {}): RoleSources => ({
  roles: ['api'],
  now: T0,
  limits,
  relayLag: undefined,
  readiness,
  projections: [],
  halted: [],
  openWork: [],
  switchedOff: false,
  ...changes,
});

const work = (changes: Partial<OpenWork>, secondsAgo: number): OpenWork => ({
  mode: 'live',
  work: 'issue',
  started: false,
  count: 1,
  oldest: addSeconds(T0, -secondsAgo),
  ...changes,
});

/** With its detail in English. */
const seen = (role: string, changes: Partial<RoleSources> = {}) => {
  const found = roleHealth(sources(changes)).find((one) => one.role === role);
  return found && { ...found, detail: found.detail[1] };
};

describe('what a process sees of each role', () => {
  it('is all well where nothing is left undone, here or elsewhere', () => {
    const all = roleHealth(sources());
    expect(all.map(({ role, here, health }) => [role, here, health])).toEqual([
      ['api', true, 'ok'],
      ...['projector', 'relay', 'issuer', 'sweeper'].map((role) => [role, false, 'ok']),
    ]);
  });

  it('says nothing of an api that runs elsewhere, and what is wrong with its own', () => {
    expect(seen('api', { roles: ['issuer'] })).toMatchObject({ health: 'elsewhere', here: false });
    const unready = { ...readiness, ready: false, reasons: ['database: read-only'] };
    expect(seen('api', { readiness: unready })).toMatchObject({
      health: 'bad',
      detail: 'database: read-only',
    });
  });

  it('says of an api that an operator switched off how it is switched on, here and elsewhere', () => {
    const off = { health: 'bad', detail: 'switched off by an operator: nfse api on' };
    for (const roles of [['api'], ['issuer']] as const)
      expect(seen('api', { roles, switchedOff: true })).toMatchObject(off);
  });

  it.each([
    [29, 'ok'],
    [30, 'bad'],
  ])('takes a projector %i s behind for %s, and names the furthest', (seconds, health) => {
    const projections = [
      { name: 'system', lagSeconds: 1 },
      { name: 'invoices', lagSeconds: seconds },
    ];
    expect(seen('projector', { projections })).toMatchObject({
      health,
      detail: `invoices is ${seconds} s behind the log`,
    });
  });

  it('takes a halted projector for ill, however near it stopped', () => {
    expect(seen('projector', { halted: ['invoices'] })).toMatchObject({
      health: 'bad',
      detail: 'halted at invoices',
    });
  });

  it('measures a relay over a durable queue by its own checkpoint', async () => {
    const log = memoryEventLog();
    const append = async (stream: string, secondsAgo: number) => {
      const { metadata, ...event } = chained(stream, 0);
      await log.append(stream, NONE, [
        { ...event, metadata: { ...metadata, recordedAt: addSeconds(T0, -secondsAgo) } },
      ]);
    };
    await append('nfseLive-1', 90);
    const relayed = await log.head();
    await append('company-1', 60);
    await append('nfseTest-1', 31);
    const relay = { read: async () => relayed, move: () => Promise.reject(new Error('nothing is moved')) };
    const relayLag = await createRelayLag({ log, guards: { relay } }, { now: () => T0 })();
    expect(seen('relay', { relayLag })).toMatchObject({ health: 'bad', detail: '31 s behind the log' });
  });

  it('knows no lag of projector and relay while the log cannot be read, and the rest all the same', async () => {
    const lost = () => unlessLost<never>(Promise.reject(new EventLogUnavailable('the log is not reachable')));
    const [projections, relayLag] = await Promise.all([lost(), lost()]);
    const all = roleHealth(sources({ projections, relayLag }));
    const unknown = 'its lag is not known, because the log does not answer';
    expect(all.map(({ role, health, detail }) => [role, health, detail[1] === unknown])).toEqual([
      ['api', 'ok', false],
      ['projector', 'bad', true],
      ['relay', 'bad', true],
      ['issuer', 'ok', false],
      ['sweeper', 'ok', false],
    ]);
    await expect(unlessLost(Promise.reject(new Error('a fault of ours')))).rejects.toThrow('a fault of ours');
  });

  it('takes an issuer for ill when something waits 30 s for its first attempt, not while it works', () => {
    const at = (rows: OpenWork[]) => seen('issuer', { openWork: rows });
    expect(at([work({}, 29)])).toMatchObject({ health: 'ok' });
    expect(at([work({ count: 3 }, 30)])).toMatchObject({
      health: 'bad',
      detail: '3 invoices open, the oldest without an attempt waits 30 s',
    });
    expect(at([work({ started: true }, 300)])).toMatchObject({ health: 'ok' });
  });

  it('takes a sweeper for ill once a verdict is overdue', () => {
    const at = (secondsAgo: number) => seen('sweeper', { openWork: [work({}, secondsAgo)] });
    expect(at(limits.queuedSeconds + 120)).toMatchObject({ health: 'ok' });
    expect(at(limits.queuedSeconds + 121)).toMatchObject({ health: 'bad' });
  });
});
