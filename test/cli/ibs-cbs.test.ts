import { describe, expect, it } from 'vitest';
import { ibsCbsChecks, ibsCbsWarnings } from '../../src/cli/ibs-cbs.js';
import type { Session } from '../../src/cli/session.js';
import type { Company } from '../../src/domain/company/company.js';
import { demoCompany } from '../support/fixture/demo.js';

const companyOf = (cnpj: string, cnae: string, changes: Partial<Company['registration']> = {}): Company => {
  const company = demoCompany(cnpj);
  const activities = [{ cnae, isMain: true }];
  return { ...company, enabled: true, registration: { ...company.registration, cnpj, activities, ...changes } };
};

const checksAt = (now: string, ...companies: readonly Company[]) =>
  ibsCbsChecks({
    clock: { now: () => now },
    readModel: { companies: async () => companies, catalogLines: async () => new Map() },
  } as unknown as Session);

describe('what doctor says of IBS and CBS', () => {
  const repairs = companyOf('11444777000161', '9511800', { taxRegime: 'normal' });

  it('counts the lines of each company that go out without, and what they lack', async () => {
    const [check, ...others] = await checksAt('2026-11-23T12:00:00.000Z', repairs);
    expect(others).toMatchObject([{ name: 'reduction 11444777000161' }]);
    expect(check).toMatchObject({ name: 'IBS and CBS 11444777000161', ok: true });
    expect(check?.detail).toBe(
      'owed from 2026-10-01, notes without are taken until 2026-12-31; 0 of 7 lines declare IBS and CBS; ' +
        "4 where the customer's address is known; 3 go out without (3 owe it now), missing: ind_op in 3",
    );
  });

  it('counts as owing only from the day of the regime on', async () => {
    const simples = companyOf('11444777000161', '9511800', { taxRegime: 'simples' });
    const detailAt = async (now: string) => (await checksAt(now, simples))[0]?.detail;
    expect(await detailAt('2027-01-01T02:59:59.999Z')).toContain('3 go out without (0 owe it now)');
    expect(await detailAt('2027-01-01T03:00:00.000Z')).toContain('3 go out without (3 owe it now)');
  });

  it('is a fault once a line owes the group and no note without it is known to be taken, of the line’s own regime', async () => {
    const simples = companyOf('11444777000161', '9511800', { taxRegime: 'simples' });
    const checkAt = async (now: string, company: Company) => (await checksAt(now, company))[0];
    for (const company of [repairs, simples])
      expect(await checkAt('2027-01-01T02:59:59.999Z', company)).toMatchObject({ ok: true });
    for (const company of [repairs, simples])
      expect(await checkAt('2027-01-01T03:00:00.000Z', company)).toMatchObject({
        ok: false,
        detail: expect.stringContaining('notes without were taken until 2026-12-31'),
      });
  });

  it('is silent about a company whose lines are settled, and about one that is not enabled', async () => {
    const operations = ['140101', '140201', '010701'].map((serviceCode) => ({ serviceCode, indOp: '050101' }));
    const technical = ['310101', '310102', '310103', '310104'];
    const services = [...operations, ...technical.map((serviceCode) => ({ serviceCode, classTrib: '000001' }))];
    const settled = companyOf('11444777000161', '9511800', {
      taxRegime: 'normal',
      ibsCbs: { declare: true, services },
    });
    expect(await checksAt('2026-11-23T12:00:00.000Z', settled, { ...repairs, enabled: false })).toEqual([]);
  });

  it('names what is open from 30 days before it begins, in Brasília', async () => {
    const open = async (now: string) =>
      (await checksAt(now, repairs)).filter(({ name }) => name === 'IBS and CBS open').map(({ detail }) => detail);
    expect(await open('2026-12-02T02:59:59.999Z')).toEqual([]);
    expect(await open('2026-12-02T03:00:00.000Z')).toEqual([
      expect.stringContaining('whether the authorizer refuses a note without the group, from 2027-01-01 on'),
      expect.stringContaining('the rate of the CBS, from 2027-01-01 on'),
    ]);
  });

  it('names 20 companies and counts the others', async () => {
    const many = Array.from({ length: 22 }, (_, n) => companyOf(`114447770${String(n).padStart(5, '0')}`, '9511800'));
    const checks = await checksAt('2026-11-23T12:00:00.000Z', ...many);
    for (const area of ['IBS and CBS', 'reduction']) {
      const ofArea = checks.filter(({ name }) => name.startsWith(area));
      expect(ofArea).toHaveLength(21);
      expect(ofArea.at(-1)?.detail).toBe('2 more lines');
    }
  });
});

describe('lines without the group that they owe', () => {
  it('are a warning once a line owes it, and none before', async () => {
    const warnedAt = (now: string, company: Company) =>
      ibsCbsWarnings(company, {
        clock: { now: () => now },
        readModel: { catalogLines: async () => new Map() },
      } as unknown as Session);
    const simples = companyOf('11444777000161', '9511800', { taxRegime: 'simples' });
    const owed = 'IBS and CBS: owed from 2027-01-01';
    expect((await warnedAt('2027-01-01T02:59:59.999Z', simples)).join()).not.toContain(owed);
    expect((await warnedAt('2027-01-01T03:00:00.000Z', simples)).join()).toContain(owed);
  });
});

describe('a reduction that annex VIII alone gives', () => {
  const advice = companyOf('61198164000160', '7020400', { taxRegime: 'normal' });
  const session = {
    clock: { now: () => '2026-11-29T12:00:00.000Z' },
    readModel: { catalogLines: async () => new Map() },
  } as unknown as Session;
  const choosing = (...services: readonly { serviceCode: string; indOp?: string; classTrib?: string }[]) =>
    companyOf('61198164000160', '7020400', { ibsCbs: { declare: true, services } });

  it('is named by doctor with its services, percentage and cure, and is no fault', async () => {
    const checks = await checksAt('2026-11-29T12:00:00.000Z', advice);
    const check = checks.find(({ name }) => name === 'reduction 61198164000160');
    expect(check).toMatchObject({ ok: true, cure: expect.stringContaining('or 000001 without the reduction') });
    expect(check?.detail).toContain('service 172001 200052 (-30 %)');
  });

  it('is no warning any more when the company file names a classification, also the same', async () => {
    const named = async (company: Company) => (await ibsCbsWarnings(company, session)).join();
    expect(await named(advice)).toContain('service 172001 200052 (-30 %)');
    expect(await named(choosing({ serviceCode: '172001', indOp: '100301' }))).toContain('service 172001');
    for (const classTrib of ['200052', '000001'])
      expect(await named(choosing({ serviceCode: '172001', classTrib }))).not.toContain('service 172001');
    const declaresNothing = companyOf('61198164000160', '7020400', { ibsCbs: { declare: false, services: [] } });
    expect(await ibsCbsWarnings(declaresNothing, session)).toEqual([]);
  });
});
