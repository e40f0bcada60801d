import { beforeEach, describe, expect, it } from 'vitest';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { createCertificateOpener } from '../../../src/app/issuing/open-certificate.js';
import { companyStream } from '../../../src/domain/common/ids.js';
import type { CompanyEvent, KeyFault } from '../../../src/domain/company/events.js';
import type { CertificateVault, CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { company as registered, registration } from '../../support/fixture/company.js';
import { T0 } from '../../support/fixture/invoice.js';
import { appendTo, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const companyId = registration.cnpj;
const caller = { mode: 'live', companyId } as const;

const certificateOf = (certificateId: string): CompanyCertificate => ({
  certificateId,
  privateKeyPem: 'key',
  certificatePem: `leaf of ${certificateId}`,
  chainPem: [],
  cnpj: companyId,
  notBefore: T0,
  notAfter: T0,
  fingerprint: certificateId,
});

describe('the certificate of a company', () => {
  let store: EventStore;
  let reads: string[];
  let current: string | undefined;
  let held: string[];
  let broken: KeyFault | undefined;
  let vault: CertificateVault;
  beforeEach(async () => {
    store = createEventStore(memoryEventLog(), fixedKeys());
    reads = [];
    held = ['c1', 'c2'];
    current = 'c1';
    broken = undefined;
    vault = {
      put: async () => undefined,
      holds: async () => true,
      rowsOf: async () => held.map((certificateId) => ({ certificateId, putAt: T0 })),
      remove: async () => undefined,
      open: async (_company, id) => {
        reads.push(id);
        return held.includes(id) ? certificateOf(id) : undefined;
      },
    };
    await appendTo(
      store,
      companyStream(companyId),
      [{ type: 'CompanyRegistered', data: { registration, at: T0 } }],
      T0,
    );
  });

  const opener = (options: Partial<Parameters<typeof createCertificateOpener>[0]> = {}) =>
    createCertificateOpener({
      vault,
      faultOf: ({ certificateId }) => (certificateId === 'c2' ? broken : undefined),
      store,
      clock: movableClock(T0),
      actor: 'worker:issuer',
      company: async () => {
        const { certificate: _none, ...without } = registered;
        if (current === undefined) return without;
        return {
          ...without,
          certificate: { certificateId: current, notBefore: T0, notAfter: T0, fingerprint: current },
        };
      },
      ...options,
    });

  const openings = async (): Promise<readonly string[]> => {
    const { events } = await store.load<CompanyEvent>(companyStream(companyId));
    return events.flatMap((event) => (event.type === 'CertificateOpened' ? [event.data.certificateId] : []));
  };

  it('is opened once by a process, however many ask at once, and that is an event', async () => {
    const certificateFor = opener();
    const asked = await Promise.all(Array.from({ length: 10 }, () => certificateFor(caller)));
    for (const certificate of asked) expect(certificate).toEqual(certificateOf('c1'));
    expect([reads, await openings()]).toEqual([['c1'], ['c1']]);
    await opener()(caller);
    expect(await openings()).toEqual(['c1', 'c1']);
  });

  it('adds one event and is looked at for a fault once, however often a process walks over more companies than it keeps open', async () => {
    const companies = Array.from({ length: 1_001 }, (_, index) => String(index).padStart(14, '0'));
    const faulty = companies[7];
    const judged: string[] = [];
    const certificateFor = opener({
      company: async (id) => ({
        ...registered,
        certificate: { certificateId: id, notBefore: T0, notAfter: T0, fingerprint: id },
      }),
      vault: { ...vault, open: async (_company, id) => certificateOf(id) },
      faultOf: ({ certificateId }) => {
        judged.push(certificateId);
        return certificateId === faulty ? 'key_broken' : undefined;
      },
    });
    const walk = async (): Promise<readonly string[]> => {
      const without: string[] = [];
      for (const id of companies)
        if ((await certificateFor({ mode: 'live', companyId: id })) === undefined) without.push(id);
      return without;
    };
    expect([await walk(), await walk()]).toEqual([[faulty], [faulty]]);
    expect(judged).toEqual(companies);
    const { events } = await store.load<CompanyEvent>(companyStream(companies[0] ?? ''));
    expect(events.map(({ type }) => type)).toEqual(['CertificateOpened']);
  });

  it('is not handed out with a key that cannot be used, and is opened once for that', async () => {
    broken = 'key_size';
    current = 'c2';
    const certificateFor = opener();
    for (let asked = 0; asked < 3; asked += 1) expect(await certificateFor(caller)).toBeUndefined();
    const { events } = await store.load<CompanyEvent>(companyStream(companyId));
    expect([reads, events.at(-1)]).toMatchObject([
      ['c2'],
      { type: 'CertificateOpened', data: { certificateId: 'c2', unusable: 'key_size', at: T0 } },
    ]);
    expect(await openings()).toEqual(['c2']);
    current = 'c1';
    expect(await certificateFor(caller)).toEqual(certificateOf('c1'));
  });

  it('is the renewed one at the next call, without a restart', async () => {
    const certificateFor = opener();
    await certificateFor(caller);
    current = 'c2';
    expect(await certificateFor(caller)).toEqual(certificateOf('c2'));
    expect(await openings()).toEqual(['c1', 'c2']);
  });

  it('is not handed out when its opening cannot be recorded', async () => {
    const down = { ...store, append: () => Promise.reject(new Error('the log is down')) };
    store = down;
    await expect(opener()(caller)).rejects.toThrow('the log is down');
  });

  it('is none, and no event, when there is none or the vault has lost it', async () => {
    current = undefined;
    expect(await opener()(caller)).toBeUndefined();
    current = 'c3';
    expect(await opener()(caller)).toBeUndefined();
    expect(await openings()).toEqual([]);
  });
});
