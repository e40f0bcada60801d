import { describe, expect, it, vi } from 'vitest';
import { appendAudit } from '../../../../src/app/audit/audit-trail.js';
import { verifyLog } from '../../../../src/app/audit/verify-log.js';
import { operatorContext } from '../../../../src/app/event-store/command-context.js';
import { createEventStore, type EventStore } from '../../../../src/app/event-store/event-store.js';
import { sha256Hex } from '../../../../src/app/event-store/hashes.js';
import { CONTENDED, StreamContended } from '../../../../src/app/event-store/transact.js';
import { allocateDpsNumber } from '../../../../src/app/issuing/allocate-number.js';
import {
  createKey,
  loadCompany,
  nextNumbersOf,
  putCertificate,
  putCompanyFile,
  revokeKey,
  setCompanyEnabled,
} from '../../../../src/app/operator/company/company-commands.js';
import { setApiSwitch } from '../../../../src/app/operator/reference-data/commands.js';
import { type ApplyingDeps, NotInForceYet } from '../../../../src/app/operator/transact-and-apply.js';
import { companyCommands } from '../../../../src/cli/commands/company.js';
import { runCommand } from '../../../../src/cli/run.js';
import type { Session } from '../../../../src/cli/session.js';
import { companyStream, dpsStream, type StreamName } from '../../../../src/domain/common/ids.js';
import { type CompanyDecision, putCompany } from '../../../../src/domain/company/company.js';
import type { CompanyEvent, Registration } from '../../../../src/domain/company/events.js';
import { blockSeries, dpsNumbers } from '../../../../src/domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../../src/domain/dps-number/events.js';
import { startupFault } from '../../../../src/runtime/commands/startup-fault.js';
import { rowFollowsTeller } from '../../../../src/runtime/operator/row-follows.js';
import { DEMO_CNPJ, demoCompany } from '../../../support/fixture/demo.js';
import { T0 } from '../../../support/fixture/invoice.js';
import { fixedKeys, movableClock, rethrow } from '../../../support/harness/event-store.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';

const { registration } = demoCompany(DEMO_CNPJ);

/** One registered, disabled company; `applied` has the streams whose rows were applied since. */
const registered = async () => {
  const log = memoryEventLog();
  const store = createEventStore(log, fixedKeys());
  const applied: StreamName[] = [];
  const deps: ApplyingDeps = {
    store,
    clock: movableClock(T0),
    applyNow: async (stream) => void applied.push(stream),
    rowFollows: rethrow,
    actor: 'support:test',
  };
  await putCompanyFile(registration, deps);
  applied.length = 0;
  return { deps, log, store, applied };
};

const losing = (store: EventStore): EventStore => ({ ...store, append: async () => ({ ok: false }) });

describe('a command of an operator', () => {
  it('applies its row also when it changes nothing: the process that recorded the change may have died before', async () => {
    const { deps, store, applied } = await registered();
    const died = { ...deps, applyNow: () => Promise.reject(new Error('killed between the append and the row')) };
    await expect(setCompanyEnabled(DEMO_CNPJ, true, died)).rejects.toThrow(NotInForceYet);
    expect(applied).toEqual([]);
    expect(await setCompanyEnabled(DEMO_CNPJ, true, deps)).toEqual({ done: undefined });
    expect(applied).toEqual([companyStream(DEMO_CNPJ)]);
    const { events } = await store.load(companyStream(DEMO_CNPJ));
    expect(events.map(({ type }) => type)).toEqual(['CompanyRegistered', 'CompanyEnabled']);
  });

  describe('whose row cannot be written after the append', () => {
    const lost = Object.assign(new Error('terminating connection'), { code: '57P01' });
    const withoutRows = async () => {
      const { deps, store } = await registered();
      const told: unknown[] = [];
      const cut: ApplyingDeps = {
        ...deps,
        applyNow: () => Promise.reject(lost),
        rowFollows: (fault) => void told.push(fault),
      };
      return { deps, store, cut, told };
    };

    it('gives the key that it has recorded, because a repeat would make a second one', async () => {
      const { store, cut, told } = await withoutRows();
      const made = await createKey(DEMO_CNPJ, 'test', ['nfse:read'], cut);
      if ('refused' in made) throw new Error(made.refused);
      const { state } = await loadCompany(DEMO_CNPJ, store);
      expect(state).toMatchObject({ keys: [{ keyId: made.done.id, keyHash: sha256Hex(made.done.key) }] });
      expect(told).toEqual([lost]);
    });

    it('has stored a certificate once', async () => {
      const { cut, told } = await withoutRows();
      const put = vi.fn(async () => undefined);
      const certificate = { privateKeyPem: '', certificatePem: '', chainPem: [], cnpj: DEMO_CNPJ, fingerprint: 'ff' };
      const facts = { ...certificate, notBefore: T0, notAfter: T0 };
      expect(await putCertificate(DEMO_CNPJ, facts, { put }, cut)).toHaveProperty('done');
      expect(put).toHaveBeenCalledOnce();
      expect(told).toEqual([lost]);
    });

    it('says of a switch and a revocation that they are recorded and not in force, which a repeat mends', async () => {
      const { deps, store, cut, told } = await withoutRows();
      const made = await createKey(DEMO_CNPJ, 'test', ['nfse:read'], deps);
      if ('refused' in made) throw new Error(made.refused);
      for (const run of [
        (over: ApplyingDeps) => setCompanyEnabled(DEMO_CNPJ, true, over),
        (over: ApplyingDeps) => revokeKey(DEMO_CNPJ, made.done.id, over),
        (over: ApplyingDeps) => setApiSwitch('off', undefined, over),
      ]) {
        const fault = await run(cut).catch((error: unknown) => error);
        expect(startupFault(fault)).toEqual({
          exit: 3,
          line: expect.stringMatching(
            /^recorded, but not in force yet: .* \(57P01\); .*the same command again does no harm/,
          ),
        });
        // What was recorded already is not recorded again, so the line of the fault itself is right.
        expect(startupFault(await run(cut).catch((error: unknown) => error)).line).toContain('try again (57P01)');
        await run(deps);
      }
      expect(told).toEqual([]);
      const { events } = await store.load(companyStream(DEMO_CNPJ));
      expect(events.map(({ type }) => type).slice(-2)).toEqual(['CompanyEnabled', 'ApiKeyRevoked']);
    });

    it('is told once on stderr, however many entries a file has', () => {
      const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
      const tell = rowFollowsTeller();
      for (const fault of [lost, lost]) tell(fault);
      const lines = written.mock.calls.map(([line]) => line);
      written.mockRestore();
      expect(lines).toEqual([
        'warning: recorded, but not in force yet: its row could not be written (57P01); the projector writes the row, and nfse projections status shows how far that is\n',
      ]);
    });
  });

  it('enables no company that the last log recovery did not compare', async () => {
    const { deps, store } = await registered();
    const recovered = (held: readonly string[]) =>
      appendAudit('LogRecovered', { unknownNotes: 0, accessKeys: [], heldCompanies: held }, deps);
    await recovered([DEMO_CNPJ]);
    expect(await setCompanyEnabled(DEMO_CNPJ, true, deps)).toEqual({
      refused: expect.stringMatching(/was not compared .* nfse restore --mark, .* nfse doctor --reconcile$/),
    });
    expect(await setCompanyEnabled(DEMO_CNPJ, false, deps)).toEqual({ done: undefined });
    await recovered([]);
    expect(await setCompanyEnabled(DEMO_CNPJ, true, deps)).toEqual({ done: undefined });
    expect((await loadCompany(DEMO_CNPJ, store)).state).toMatchObject({ enabled: true });
  });

  it('applies no row when it is refused', async () => {
    const { deps, applied } = await registered();
    expect(await revokeKey(DEMO_CNPJ, 'key_none', deps)).toEqual({ refused: 'no such key' });
    expect(applied).toEqual([]);
  });
});

describe('an operator whose command always loses the race', () => {
  it('is refused in one line, with nothing recorded', async () => {
    const { deps, store, applied } = await registered();
    const lines: string[] = [];
    const session = { companyDeps: () => ({ ...deps, store: losing(store) }) } as unknown as Session;
    const terminal = { out: () => expect.unreachable(), err: (text: string) => void lines.push(text) };
    const argv = ['company', 'enable', DEMO_CNPJ, '--actor', 'ana'];
    expect(await runCommand(argv, companyCommands, async () => session, terminal)).toBe(1);
    expect(lines).toEqual([CONTENDED]);
    expect((await loadCompany(DEMO_CNPJ, store)).state).toMatchObject({ enabled: false });
    expect(applied).toEqual([]);
    expect(await setCompanyEnabled(DEMO_CNPJ, true, deps)).toEqual({ done: undefined });
  });

  it('gets the same line from a command without refusals', async () => {
    const { deps, store } = await registered();
    const error = await setApiSwitch('off', undefined, { ...deps, store: losing(store) }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StreamContended);
    expect(startupFault(error)).toEqual({ exit: 1, line: CONTENDED });
  });
});

describe('the next DPS number of a company file', () => {
  const { series, nextNumber: first } = registration.dps.live;
  const stream = dpsStream('live', DEMO_CNPJ, series);
  const fileWith = (nextNumber: number) => ({
    ...registration,
    dps: { ...registration.dps, live: { series, nextNumber } },
  });

  const elsewhere = { ...registration, dps: { ...registration.dps, live: { series: '2', nextNumber: 1 } } };
  const refusedAt = (at: number) => ({
    refused: `dps.live: the next DPS number can only be moved forward: it is ${at}`,
  });

  it('stays what is on record where the file names no series', async () => {
    const { deps, store } = await registered();
    const recorded = async () => (await loadCompany(DEMO_CNPJ, store)).state;
    await putCompanyFile(elsewhere, deps);
    const renamed = { ...registration, legalName: 'OUTRA RAZAO LTDA' };
    expect(await putCompanyFile(renamed, deps, ['live'])).toEqual({ done: undefined });
    expect(await recorded()).toMatchObject({
      registration: { legalName: 'OUTRA RAZAO LTDA', dps: { live: { series: '2', nextNumber: 1 } } },
    });
    const ofSeries = dpsStream('live', DEMO_CNPJ, '2');
    const numbers = async () => (await store.load<DpsNumberEvent>(ofSeries)).events;
    const before = await numbers();
    expect(await putCompanyFile(registration, deps, ['live', 'test'])).toEqual({ done: undefined });
    expect(await numbers()).toEqual(before);
    expect(await recorded()).toMatchObject({ registration: { ...registration, dps: elsewhere.dps } });
  });

  it('begins with the one of the file for a company that is not on record', async () => {
    const store = createEventStore(memoryEventLog(), fixedKeys());
    const deps = {
      store,
      clock: movableClock(T0),
      applyNow: async () => undefined,
      rowFollows: rethrow,
      actor: 'support:test',
    } as const;
    expect(await putCompanyFile(registration, deps, ['live', 'test'])).toEqual({ done: undefined });
    expect((await loadCompany(DEMO_CNPJ, store)).state).toMatchObject({ registration });
  });

  const setUp = async () => {
    const { deps, log, store } = await registered();
    let invoices = 0;
    return {
      deps,
      log,
      store,
      put: (nextNumber: number, over: EventStore = store) =>
        putCompanyFile(fileWith(nextNumber), { ...deps, store: over }),
      /** As an issuer that still knows the first registration. */
      take: (over: EventStore = store) => {
        invoices += 1;
        const invoiceId = `00000000-0000-4000-8000-${String(invoices).padStart(12, '0')}`;
        const owner = { mode: 'live', companyId: DEMO_CNPJ, invoiceId } as const;
        const issuer = { store: over, clock: deps.clock, actor: 'worker:issuer' } as const;
        return allocateDpsNumber(owner, { series, nextNumber: first }, undefined, issuer);
      },
      /** A note of somebody else has one of the company's numbers. */
      stop: async () => {
        const { events, version } = await store.load<DpsNumberEvent>(stream);
        const numbers = dpsNumbers(events.at(-1), first);
        const { events: blocked } = blockSeries(numbers, 7, '00000000-0000-4000-8000-000000000099', T0);
        const context = operatorContext('operate_company', { actor: deps.actor, companyId: DEMO_CNPJ })(T0);
        await store.append(stream, version, blocked, context);
      },
      numbers: async () => (await nextNumbersOf(registration, store)).find(({ mode }) => mode === 'live'),
      types: async () => (await store.load<DpsNumberEvent>(stream)).events.map(({ type }) => type),
    };
  };

  it('stays stopped where the file names no series', async () => {
    const { deps, stop, numbers } = await setUp();
    await stop();
    const stopped = await numbers();
    expect(stopped).toMatchObject({ isStopped: true });
    expect(await putCompanyFile(registration, deps, ['live', 'test'])).toEqual({ done: undefined });
    expect(await numbers()).toEqual(stopped);
  });

  /** A store in which something happens once after the numbers were read and before anything is appended. */
  const meanwhile = (store: EventStore, happens: () => Promise<unknown>): EventStore => {
    let left = 1;
    return {
      ...store,
      load: async (wanted, options) => {
        const loaded = await store.load<never>(wanted, options);
        if (wanted === stream && left-- > 0) await happens();
        return loaded;
      },
    };
  };

  it('needs no event when the company is registered, because nothing gives its numbers before', async () => {
    const { types, take } = await setUp();
    expect(await types()).toEqual([]);
    expect(await take()).toEqual({ number: first });
  });

  it('holds for an issuer that still knows the file before it, in a series without events', async () => {
    const { put, take, types, log } = await setUp();
    expect(await put(1_000)).toEqual({ done: undefined });
    expect(await take()).toEqual({ number: 1_000 });
    expect(await types()).toEqual(['DpsNumberMoved', 'DpsNumberAllocated']);
    // The number was taken for an invoice that was never accepted, which is all that the audit finds.
    expect((await verifyLog(log)).findings.kept).toMatchObject([
      { detail: expect.stringContaining('of which no event is left') },
    ]);
  });

  it('holds when the first number is taken while the file is put', async () => {
    const { put, take, store } = await setUp();
    const taken: unknown[] = [];
    expect(
      await put(
        1_000,
        meanwhile(store, async () => taken.push(await take())),
      ),
    ).toEqual({ done: undefined });
    expect(taken).toEqual([{ number: first }]);
    expect(await take()).toEqual({ number: 1_000 });
  });

  it('holds when the file is put while the first number is taken', async () => {
    const { put, take, store } = await setUp();
    expect(await take(meanwhile(store, () => put(1_000)))).toEqual({ number: 1_000 });
  });

  it.each([0, 3])(
    'is put by the same command again after an end between both appends, %i invoices later',
    async (count) => {
      const { put, take, store, deps } = await setUp();
      await take();
      const killed: EventStore = {
        ...store,
        append: (wanted, ...more) =>
          wanted === stream ? store.append(wanted, ...more) : Promise.reject(new Error('killed')),
      };
      await expect(put(1_000, killed)).rejects.toThrow('killed');
      for (let n = 0; n < count; n += 1) expect(await take()).toEqual({ number: 1_000 + n });
      expect(await put(1_000)).toEqual({ done: undefined });
      const { state } = await loadCompany(DEMO_CNPJ, deps.store);
      expect(state).toMatchObject({ registration: { dps: { live: { nextNumber: 1_000 } } } });
      expect(await take()).toEqual({ number: 1_000 + count });
    },
  );

  it('is refused when a finished command put it, and the company has used another series since', async () => {
    const { put, take, deps } = await setUp();
    await put(1_000);
    await take();
    expect(await putCompanyFile(elsewhere, deps)).toEqual({ done: undefined });
    expect(await put(1_000)).toEqual({ refused: expect.stringContaining('it is 1001') });
  });

  it('never goes back before the first invoice, whatever file is on record', async () => {
    const { put, take, deps, types } = await setUp();
    expect(await put(2_000)).toEqual({ done: undefined });
    expect(await put(1_000)).toEqual(refusedAt(2_000));
    expect(await put(first)).toEqual(refusedAt(2_000));
    expect(await putCompanyFile(elsewhere, deps)).toEqual({ done: undefined });
    expect(await put(first)).toEqual(refusedAt(2_000));
    expect(await types()).toEqual(['DpsNumberMoved']);
    expect(await take()).toEqual({ number: 2_000 });
  });

  it('goes on at the registered number when the series was stopped there, and no number is given twice', async () => {
    const { put, take, stop, types, numbers } = await setUp();
    await put(1_000);
    await stop();
    expect(await take()).toMatchObject({ refused: 'series_blocked' });
    expect(await numbers()).toMatchObject({ nextNumber: 1_000, isStopped: true });
    expect(await put(1_000)).toEqual({ done: undefined });
    expect(await put(1_000)).toEqual({ done: undefined });
    expect(await types()).toEqual(['DpsNumberMoved', 'DpsSeriesBlocked', 'DpsNumberMoved']);
    expect(await numbers()).toEqual({ mode: 'live', series, nextNumber: 1_000, isStopped: false });
    expect([await take(), await take()]).toEqual([{ number: 1_000 }, { number: 1_001 }]);
  });

  it('leaves a series stopped that has given the registered number', async () => {
    const { put, take, stop, numbers } = await setUp();
    await put(1_000);
    await take();
    await stop();
    expect(await put(1_000)).toEqual({ done: undefined });
    expect(await numbers()).toMatchObject({ nextNumber: 1_001, isStopped: true });
    expect(await put(1_001)).toEqual({ done: undefined });
    expect(await take()).toEqual({ number: 1_001 });
  });

  /** No company yet. */
  const unregistered = () => {
    const log = memoryEventLog();
    const store = createEventStore(log, fixedKeys());
    const deps = {
      store,
      clock: movableClock(T0),
      applyNow: async () => undefined,
      rowFollows: rethrow,
      actor: 'support:test',
    } as const;
    return { log, store, deps };
  };

  it('never goes back behind the number with which the company was registered', async () => {
    const { deps, log, store } = unregistered();
    await putCompanyFile(fileWith(1_000), deps);
    expect(await putCompanyFile(fileWith(999), deps)).toEqual(refusedAt(1_000));
    expect(await putCompanyFile(elsewhere, deps)).toEqual({ done: undefined });
    expect(await putCompanyFile(fileWith(999), deps)).toEqual(refusedAt(1_000));
    expect(await putCompanyFile(fileWith(1_000), deps)).toEqual({ done: undefined });
    expect((await loadCompany(DEMO_CNPJ, store)).state).toMatchObject({ registration: fileWith(1_000) });
    expect((await verifyLog(log)).findings.kept).toEqual([]);
  });

  it('never goes back when two commands register the company at once', async () => {
    const { deps, store } = unregistered();
    const late = meanwhile(store, () => putCompanyFile(fileWith(2_000), deps));
    expect(await putCompanyFile(fileWith(1_000), { ...deps, store: late })).toEqual(refusedAt(2_000));
  });

  it('holds when another command registers the company with an earlier number at once', async () => {
    const { deps, store } = unregistered();
    const late = meanwhile(store, () => putCompanyFile(fileWith(1_000), deps));
    expect(await putCompanyFile(fileWith(2_000), { ...deps, store: late })).toEqual({ done: undefined });
    const { events } = await store.load<DpsNumberEvent>(stream);
    expect(events.map(({ data }) => data.nextNumber)).toEqual([1_000, 2_000]);
  });

  /** What versions before this one recorded: registrations alone, whatever their numbers. */
  const registeredBefore = async (files: readonly Registration[], since: readonly CompanyEvent[] = []) => {
    const { deps, store } = unregistered();
    const record = async (decided: CompanyDecision): Promise<void> => {
      if ('refused' in decided) throw new Error(decided.refused);
      const { version } = await loadCompany(DEMO_CNPJ, store);
      const context = operatorContext('operate_company', { actor: deps.actor, companyId: DEMO_CNPJ })(T0);
      await store.append(companyStream(DEMO_CNPJ), version, decided.events, context);
    };
    for (const file of files) await record(putCompany((await loadCompany(DEMO_CNPJ, store)).state, file, T0));
    await record({ events: since });
    return deps;
  };

  it.each([0, 1_100])('holds for a log of an earlier version, %i switches of the company later', async (switches) => {
    const since = Array.from({ length: switches }, () => ({ type: 'CompanyEnabled', data: { at: T0 } }) as const);
    const deps = await registeredBefore([fileWith(1_000)], since);
    expect(await putCompanyFile(fileWith(999), deps)).toEqual(refusedAt(1_000));
  });

  it('is that of the newest file in a log of an earlier version, which let a number go back', async () => {
    const deps = await registeredBefore([fileWith(20_000), fileWith(200), elsewhere]);
    expect(await putCompanyFile(fileWith(199), deps)).toEqual(refusedAt(200));
    expect(await putCompanyFile(fileWith(300), deps)).toEqual({ done: undefined });
  });

  it('never goes back, also not to the number of an earlier move', async () => {
    const { put, take } = await setUp();
    await put(1_000);
    await take();
    await put(2_000);
    expect(await put(1_000)).toEqual(refusedAt(2_000));
    await take();
    expect(await put(1_000)).toEqual(refusedAt(2_001));
  });
});
