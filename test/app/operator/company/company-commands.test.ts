import { describe, expect, it } from 'vitest';
import { createEventStore, type EventStore } from '../../../../src/app/event-store/event-store.js';
import { CONTENDED, StreamContended } from '../../../../src/app/event-store/transact.js';
import {
  type CompanyCommandDeps,
  loadCompany,
  putCompanyFile,
  revokeKey,
  setCompanyEnabled,
} from '../../../../src/app/operator/company/company-commands.js';
import { setApiSwitch } from '../../../../src/app/operator/reference-data/commands.js';
import { companyCommands } from '../../../../src/cli/commands/company.js';
import { runCommand } from '../../../../src/cli/run.js';
import type { Session } from '../../../../src/cli/session.js';
import { companyStream, type StreamName } from '../../../../src/domain/common/ids.js';
import { startupFault } from '../../../../src/runtime/commands/startup-fault.js';
import { DEMO_CNPJ, demoCompany } from '../../../support/fixture/demo.js';
import { T0 } from '../../../support/fixture/invoice.js';
import { fixedKeys, movableClock } from '../../../support/harness/event-store.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';

const { registration } = demoCompany(DEMO_CNPJ);

/** One registered, disabled company; `applied` has the streams whose rows were applied since. */
const registered = async () => {
  const store = createEventStore(memoryEventLog(), fixedKeys());
  const applied: StreamName[] = [];
  const deps: CompanyCommandDeps = {
    store,
    clock: movableClock(T0),
    applyNow: async (stream) => void applied.push(stream),
    actor: 'support:test',
  };
  await putCompanyFile(registration, deps);
  applied.length = 0;
  return { deps, store, applied };
};

const losing = (store: EventStore): EventStore => ({ ...store, append: async () => ({ ok: false }) });

describe('a command of an operator', () => {
  it('applies its row also when it changes nothing: the process that recorded the change may have died before', async () => {
    const { deps, store, applied } = await registered();
    const died = { ...deps, applyNow: () => Promise.reject(new Error('killed between the append and the row')) };
    await expect(setCompanyEnabled(DEMO_CNPJ, true, died)).rejects.toThrow('killed');
    expect(applied).toEqual([]);
    expect(await setCompanyEnabled(DEMO_CNPJ, true, deps)).toEqual({ done: undefined });
    expect(applied).toEqual([companyStream(DEMO_CNPJ)]);
    const { events } = await store.load(companyStream(DEMO_CNPJ));
    expect(events.map(({ type }) => type)).toEqual(['CompanyRegistered', 'CompanyEnabled']);
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
