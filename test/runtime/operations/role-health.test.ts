import { describe, expect, it } from 'vitest';
import type { OpenWork } from '../../../src/adapters/read-model-postgres/monitoring-reads.js';
import { addSeconds } from '../../../src/domain/shared/time.js';
import type { LogPosition } from '../../../src/ports/event-log.js';
import { type RoleSources, roleHealth } from '../../../src/runtime/operations/console.js';
import type { Readiness } from '../../../src/runtime/operations/readiness.js';
import { limits, T0 } from '../../support/fixture/invoice.js';

const ok = { ok: true };
const readiness: Readiness = {
  ...{ ready: true, reasons: [], lag_s: 0 },
  checks: { serving: ok, database: ok, event_log: ok, queue: ok, projections: ok, guards: ok, certificate_vault: ok },
};

const sources = (changes: Partial<RoleSources> = {}): RoleSources => ({
  ...{ roles: ['api'], clock: { now: () => T0 }, limits, lag: async () => 0, relayed: undefined },
  ...{ readiness: async () => readiness, projections: async () => [], halted: () => [], openWork: async () => [] },
  switchedOff: async () => false,
  ...changes,
});

const projection = (name: string, lagSeconds: number) => ({
  ...{ name, lagSeconds, version: 1, generation: 1, position: null },
});

const work = (changes: Partial<OpenWork>, secondsAgo: number): OpenWork => ({
  ...{ mode: 'live', work: 'issue', started: false, count: 1, oldest: addSeconds(T0, -secondsAgo), ...changes },
});

const seen = async (role: string, changes: Partial<RoleSources> = {}) =>
  (await roleHealth(sources(changes))).find((one) => one.role === role);

describe('what a process sees of each role', () => {
  it('is all well where nothing is left undone, here or elsewhere', async () => {
    const all = await roleHealth(sources());
    expect(all.map(({ role, here, health }) => [role, here, health])).toEqual([
      ['api', true, 'ok'],
      ...['projector', 'relay', 'issuer', 'sweeper'].map((role) => [role, false, 'ok']),
    ]);
  });

  it('says nothing of an api that runs elsewhere, and what is wrong with its own', async () => {
    expect(await seen('api', { roles: ['issuer'] })).toMatchObject({ health: 'elsewhere', here: false });
    const unready = { ...readiness, ready: false, reasons: ['database: read-only'] };
    expect(await seen('api', { readiness: async () => unready })).toMatchObject({
      ...{ health: 'bad', detail: 'database: read-only' },
    });
  });

  it('says of an api that an operator switched off how it is switched on, here and elsewhere', async () => {
    const off = { health: 'bad', detail: 'switched off by an operator: nfse api on' };
    for (const roles of [['api'], ['issuer']] as const)
      expect(await seen('api', { roles, switchedOff: async () => true })).toMatchObject(off);
  });

  it.each([
    [29, 'ok'],
    [30, 'bad'],
  ])('takes a projector %i s behind for %s, and names the furthest', async (seconds, health) => {
    const projections = async () => [projection('system', 1), projection('invoices', seconds)];
    expect(await seen('projector', { projections })).toMatchObject({
      ...{ health, detail: `invoices is ${seconds} s behind the log` },
    });
  });

  it('takes a halted projector for ill, however near it stopped', async () => {
    expect(await seen('projector', { halted: () => ['invoices'] })).toMatchObject({
      ...{ health: 'bad', detail: 'halted at invoices' },
    });
  });

  it('measures a relay over a durable queue by its own checkpoint', async () => {
    const lag = async (prefixes: readonly string[], position: LogPosition | null) =>
      prefixes.join() === 'nfseLive-,nfseTest-' && position === 7n ? 31 : 0;
    const relayed = async () => 7n as LogPosition;
    expect(await seen('relay', { lag, relayed })).toMatchObject({ health: 'bad', detail: '31 s behind the log' });
  });

  it('takes an issuer for ill when something waits 30 s for its first attempt, not while it works', async () => {
    const at = (rows: OpenWork[]) => seen('issuer', { openWork: async () => rows });
    expect(await at([work({}, 29)])).toMatchObject({ health: 'ok' });
    expect(await at([work({ count: 3 }, 30)])).toMatchObject({
      ...{ health: 'bad', detail: '3 invoices open, the oldest without an attempt waits 30 s' },
    });
    expect(await at([work({ started: true }, 300)])).toMatchObject({ health: 'ok' });
  });

  it('takes a sweeper for ill once a verdict is overdue', async () => {
    const at = (secondsAgo: number) => seen('sweeper', { openWork: async () => [work({}, secondsAgo)] });
    expect(await at(limits.queuedSeconds + 120)).toMatchObject({ health: 'ok' });
    expect(await at(limits.queuedSeconds + 121)).toMatchObject({ health: 'bad' });
  });
});
