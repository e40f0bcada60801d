import { beforeEach, describe, expect, it } from 'vitest';
import { createEventStore, type EventStore } from '../../../../src/app/event-store/event-store.js';
import {
  loadCompany,
  putCertificate,
  putCompanyFile,
  removeStoredCertificates,
} from '../../../../src/app/operator/company/company-commands.js';
import { addSeconds, type Instant } from '../../../../src/domain/common/time.js';
import type { CertificateRow } from '../../../../src/ports/certificate-vault.js';
import { DEMO_CNPJ, demoCompany } from '../../../support/fixture/demo.js';
import { T0 } from '../../../support/fixture/invoice.js';
import { fixedKeys, rethrow } from '../../../support/harness/event-store.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';

const HOUR_S = 3_600;

describe('a removal of certificates', () => {
  let now: Instant;
  let rows: readonly CertificateRow[];
  let store: EventStore;
  const vault = {
    put: async (_company: string, { certificateId }: { certificateId: string }) => {
      rows = [...rows, { certificateId, putAt: now }];
    },
    rowsOf: async () => rows,
    remove: async (_company: string, ids: readonly string[]) => {
      rows = rows.filter(({ certificateId }) => !ids.includes(certificateId));
    },
  };
  const depsOver = (over: EventStore) => ({
    store: over,
    clock: { now: () => now },
    applyNow: async () => undefined,
    rowFollows: rethrow,
    actor: 'support:test' as const,
  });
  beforeEach(async () => {
    [now, rows, store] = [T0, [], createEventStore(memoryEventLog(), fixedKeys())];
    await putCompanyFile(demoCompany(DEMO_CNPJ).registration, depsOver(store));
  });

  const put = async (over = store): Promise<string | undefined> => {
    const chain = { privateKeyPem: 'key', certificatePem: 'leaf', chainPem: [], cnpj: DEMO_CNPJ, fingerprint: 'ff' };
    const certificate = { ...chain, notBefore: T0, notAfter: addSeconds(T0, 365 * 86_400) };
    const result = await putCertificate(DEMO_CNPJ, certificate, vault, depsOver(over)).catch(() => undefined);
    return result !== undefined && 'done' in result ? result.done : undefined;
  };
  const remove = (which: 'replaced' | 'all') => removeStoredCertificates(DEMO_CNPJ, which, vault, depsOver(store));
  const idsLeft = () => rows.map(({ certificateId }) => certificateId);
  const currentId = async () => {
    const { state } = await loadCompany(DEMO_CNPJ, store);
    return state.kind === 'company' ? state.certificate?.certificateId : undefined;
  };

  it('leaves the row of a put whose event comes only afterwards', async () => {
    await put();
    let removed: unknown;
    const halted: EventStore = {
      ...store,
      append: async (...what) => {
        removed ??= await remove('all');
        return await store.append(...what);
      },
    };
    const id = await put(halted);
    expect(removed).toEqual({ done: 1 });
    expect(id).toBe(await currentId());
    expect(idsLeft()).toEqual([id]);
  });

  it('takes nothing while the row of the company may name what it would take', async () => {
    const earlier = await put();
    const current = await put();
    const late = { ...depsOver(store), applyNow: () => Promise.reject(new Error('lost')), rowFollows: () => undefined };
    await expect(removeStoredCertificates(DEMO_CNPJ, 'replaced', vault, late)).rejects.toThrow();
    expect(idsLeft()).toEqual([earlier, current]);
    expect(await remove('replaced')).toEqual({ done: 1 });
    expect(idsLeft()).toEqual([current]);
  });

  it.each(['replaced', 'all'] as const)(
    'of %s ones takes the row of a killed put once it is an hour old',
    async (which) => {
      const killed: EventStore = { ...store, append: () => Promise.reject(new Error('killed')) };
      expect(await put(killed)).toBeUndefined();
      const [abandoned] = idsLeft();
      const current = await put();
      now = addSeconds(T0, HOUR_S);
      await remove('replaced');
      expect(idsLeft()).toEqual([abandoned, current]);
      now = addSeconds(now, 1);
      expect(await remove(which)).toEqual({ done: which === 'all' ? 2 : 1 });
      expect(idsLeft()).toEqual(which === 'all' ? [] : [current]);
      expect(await currentId()).toBe(which === 'all' ? undefined : current);
    },
  );
});
