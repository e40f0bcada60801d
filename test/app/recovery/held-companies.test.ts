import { describe, expect, it } from 'vitest';
import { loadCompany, setCompanyEnabled } from '../../../src/app/operator/company/company-commands.js';
import type { RecoveryDeps } from '../../../src/app/recovery/ask-series.js';
import {
  compareRestoredLog,
  heldAfter,
  type RecoveryReport,
  recordRecovery,
} from '../../../src/app/recovery/recover-log.js';
import { supportStream } from '../../../src/domain/audit/events.js';
import { companyStream, modes, type StreamName } from '../../../src/domain/common/ids.js';
import type { CompanyEvent } from '../../../src/domain/company/events.js';
import { DEMO_CNPJ, demoCompany, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { at, limits, T0 } from '../../support/fixture/invoice.js';
import { gate } from '../../support/gate.js';
import { appendTo, rethrow } from '../../support/harness/event-store.js';
import { recoveryHarness } from '../../support/harness/recovery.js';

const enabled: CompanyEvent = { type: 'CompanyEnabled', data: { at: T0 } };
const disabled: CompanyEvent = { type: 'CompanyDisabled', data: { at: T0 } };

const certified = (): CompanyEvent => {
  const { certificate } = demoCompany(OTHER_CNPJ);
  if (certificate === undefined) throw new Error('the demo company has a certificate');
  return { type: 'CertificateStored', data: { ...certificate, at: T0 } };
};

/** Another company in the restored log, without a certificate unless an event says so. */
const registerOther = async ({ store }: Pick<RecoveryDeps, 'store'>, ...more: CompanyEvent[]): Promise<void> => {
  const { registration } = demoCompany(OTHER_CNPJ);
  const registered = { type: 'CompanyRegistered', data: { registration, at: T0 } } as const;
  await appendTo(store, companyStream(OTHER_CNPJ), [registered, ...more], T0);
};

const compare = async (deps: RecoveryDeps, acceptUnknown: boolean): Promise<RecoveryReport> => {
  const report = await compareRestoredLog(deps, acceptUnknown);
  if ('refused' in report) throw new Error(report.refused);
  return report;
};

describe('a log that was put back with a company that may have got its certificate after the backup', () => {
  it('keeps issuing paused while the company is enabled, and asks for the others all the same', async () => {
    const { deps, ledgers } = await recoveryHarness();
    await registerOther(deps, enabled);
    expect(await compare(deps, true)).toMatchObject({
      isDone: false,
      series: [],
      unproven: [{ companyId: OTHER_CNPJ, lacks: 'certificate' }],
    });
    expect(ledgers.live.calls).toHaveLength(5);
  });

  it('keeps a disabled company disabled, until live notes of the company are asked for', async () => {
    const { deps } = await recoveryHarness();
    await registerOther(deps, enabled, disabled);
    const done = await compare(deps, false);
    expect(done).toMatchObject({ isDone: true, skipped: [{ companyId: OTHER_CNPJ, isHeld: true }] });
    expect(heldAfter(done, [])).toEqual([OTHER_CNPJ]);
    await appendTo(deps.store, companyStream(OTHER_CNPJ), [certified()], T0);
    expect(heldAfter(await compare(deps, false), [OTHER_CNPJ])).toEqual([]);
    const rehearsed = { modesWithoutLedger: modes, withoutAuthorizer: modes };
    expect(heldAfter(await compare({ ...deps, ...rehearsed }, false), [OTHER_CNPJ])).toEqual([OTHER_CNPJ]);
  });
});

describe('a held company that another operator enables', () => {
  const other = companyStream(OTHER_CNPJ);
  const refusedRecovery = expect.stringMatching(
    `^company ${OTHER_CNPJ} was enabled during the comparison.*stays paused: nfse doctor --reconcile again.*nfse company disable ${OTHER_CNPJ} first`,
  );
  const refusedEnable = { refused: expect.stringContaining('was not compared with the authorizer after a restore') };

  const setUp = async () => {
    const { deps } = await recoveryHarness();
    await registerOther(deps, certified());
    /** The same log; `act` runs before the first append to the stream, when the command that appends has decided. */
    const storeActing = (stream: StreamName, act: () => Promise<unknown>): RecoveryDeps['store'] => {
      let isDone = false;
      return {
        ...deps.store,
        append: async (to, ...rest) => {
          if (to === stream && !isDone) {
            isDone = true;
            await act();
          }
          return await deps.store.append(to, ...rest);
        },
      };
    };
    const enable = (store = deps.store) =>
      setCompanyEnabled(OTHER_CNPJ, true, { ...deps, store, applyNow: async () => undefined, rowFollows: rethrow });
    const skipped = [{ companyId: OTHER_CNPJ, why: 'it is left out', isHeld: true }] as const;
    const recover = (store = deps.store) => recordRecovery({ series: [], unknown: [], skipped }, { ...deps, store });
    const isEnabled = async (): Promise<boolean> => {
      const { state } = await loadCompany(OTHER_CNPJ, deps.store);
      return state.kind === 'company' && state.enabled;
    };
    return { deps, storeActing, enable, recover, isEnabled };
  };

  it('with a certificate during the comparison keeps issuing paused, and is asked for by the next one', async () => {
    const { deps } = await recoveryHarness();
    await registerOther(deps);
    let isFirst = true;
    const waitUntil: RecoveryDeps['waitUntil'] = async (until) => {
      await deps.waitUntil(until);
      if (isFirst) await appendTo(deps.store, other, [certified(), enabled], T0);
      isFirst = false;
    };
    expect(await compareRestoredLog({ ...deps, waitUntil }, false)).toEqual({ refused: refusedRecovery });
    const done = await compare(deps, false);
    expect(done).toMatchObject({ isDone: true, skipped: [] });
    expect(done.series.filter(({ companyId }) => companyId === OTHER_CNPJ)).toHaveLength(modes.length);
  });

  it('before the end of the comparison is recorded keeps issuing paused', async () => {
    const { enable, recover, isEnabled } = await setUp();
    expect(await enable()).toEqual({ done: undefined });
    expect(await recover()).toEqual(refusedRecovery);
    expect(await isEnabled()).toBe(true);
  });

  it('while the end of the comparison is recorded keeps issuing paused when the company is enabled first', async () => {
    const { storeActing, enable, recover, isEnabled } = await setUp();
    // `company enable` has looked before `LogRecovered`, and appends before the company is held.
    const [looked, mayAppend] = [gate(), gate()];
    const enabling = enable(
      storeActing(other, () => {
        looked.open();
        return mayAppend.opened;
      }),
    );
    await looked.opened;
    const recovering = recover(
      storeActing(other, () => {
        mayAppend.open();
        return enabling;
      }),
    );
    expect(await enabling).toEqual({ done: undefined });
    expect(await recovering).toEqual(refusedRecovery);
    expect(await isEnabled()).toBe(true);
  });

  it('while the end of the comparison is recorded stays disabled when the company is held first', async () => {
    const { deps, storeActing, enable, recover, isEnabled } = await setUp();
    const ends: unknown[] = [];
    expect(await enable(storeActing(other, async () => ends.push(await recover())))).toEqual(refusedEnable);
    expect(ends).toEqual([undefined]);
    expect(await isEnabled()).toBe(false);
    const { events } = await deps.store.load(supportStream);
    expect(events).toMatchObject([{ type: 'LogRecovered', data: { heldCompanies: [OTHER_CNPJ] } }]);
  });
});

describe('a log that was put back with a company that the operator leaves out', () => {
  const withoutCompanies = [DEMO_CNPJ];

  it('is done without the certificate of a disabled company, which stays disabled', async () => {
    const { deps, ledgers } = await recoveryHarness();
    ledgers.live.mute = true;
    expect(await compare(deps, false)).toMatchObject({ isDone: false, unproven: [{ companyId: DEMO_CNPJ }] });
    const done = await compare({ ...deps, withoutCompanies }, false);
    expect(done).toMatchObject({ isDone: true, series: [], skipped: [{ companyId: DEMO_CNPJ, isHeld: true }] });
    expect(heldAfter(done, [])).toEqual([DEMO_CNPJ]);
  });

  it('refuses while the company is enabled, also when that happens during the comparison', async () => {
    const { deps } = await recoveryHarness();
    const enable = () => appendTo(deps.store, companyStream(DEMO_CNPJ), [enabled], T0);
    await registerOther(deps, certified());
    const refused = { refused: expect.stringContaining(`nfse company disable ${DEMO_CNPJ} first`) };
    expect(await compareRestoredLog({ ...deps, withoutCompanies, waitUntil: enable }, false)).toEqual(refused);
    expect(await compareRestoredLog({ ...deps, withoutCompanies }, false)).toEqual(refused);
  });

  it('refuses while an open invoice of the company may be sent', async () => {
    const { deps, accept, clock } = await recoveryHarness();
    await accept(1);
    expect(await compareRestoredLog({ ...deps, withoutCompanies }, false)).toEqual({
      refused: expect.stringContaining(`may be sent until ${at(limits.queuedSeconds + 60)}`),
    });
    clock.moveTo(at(limits.queuedSeconds + 60));
    expect(await compare({ ...deps, withoutCompanies }, false)).toMatchObject({ isDone: true });
  });

  it('refuses a company that the log does not know, and one that a starting point names', async () => {
    const { deps } = await recoveryHarness();
    expect(await compareRestoredLog({ ...deps, withoutCompanies: [OTHER_CNPJ] }, false)).toEqual({
      refused: expect.stringContaining(`knows no company ${OTHER_CNPJ}`),
    });
    const named = [{ companyId: DEMO_CNPJ, mode: 'live', series: '1', number: 9 }] as const;
    expect(await compareRestoredLog({ ...deps, named, withoutCompanies }, false)).toEqual({
      refused: expect.stringContaining(`--from names company ${DEMO_CNPJ}`),
    });
  });
});
