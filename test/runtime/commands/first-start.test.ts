import { beforeEach, describe, expect, it } from 'vitest';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { createKey, putCompanyFile } from '../../../src/app/operator/company/company-commands.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import { demoCompany } from '../../../src/runtime/commands/demo-company.js';
import { isFirstStart } from '../../../src/runtime/commands/first-start.js';
import { fixedKeys, movableClock, rethrow } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const DEMO = demoCompany().cnpj;
const OTHER = '11222333000181';

/** Nothing here has a read model: that is how a start after a restore finds the log. */
describe('whether a start makes the demo company', () => {
  let log: EventLog;
  let store: EventStore;
  beforeEach(() => {
    log = memoryEventLog();
    store = createEventStore(log, fixedKeys());
  });

  const deps = () => ({
    store,
    clock: movableClock('2026-11-21T12:00:00.000Z'),
    applyNow: async () => undefined,
    rowFollows: rethrow,
    actor: 'support:test' as const,
  });
  const register = async (cnpj: string) => {
    expect(await putCompanyFile({ ...demoCompany(), cnpj }, deps())).toEqual({ done: undefined });
  };
  const makeKey = async (cnpj: string) => {
    expect(await createKey(cnpj, 'test', ['nfse:read'], deps())).toHaveProperty('done');
  };

  it('does while nobody is registered', async () => {
    expect(await isFirstStart({ log, store })).toBe(true);
  });

  it('does again when the first start died before the key', async () => {
    await register(DEMO);
    expect(await isFirstStart({ log, store })).toBe(true);
  });

  it('does not once the demo company has its key', async () => {
    await register(DEMO);
    await makeKey(DEMO);
    expect(await isFirstStart({ log, store })).toBe(false);
  });

  it('does not beside a company of the operator', async () => {
    await register(OTHER);
    expect(await isFirstStart({ log, store })).toBe(false);
  });

  it('does not for a demo company without a key beside a later company', async () => {
    await register(DEMO);
    await register(OTHER);
    expect(await isFirstStart({ log, store })).toBe(false);
  });
});
