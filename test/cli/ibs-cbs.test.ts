import { describe, expect, it } from 'vitest';
import { ibsCbsChecks } from '../../src/cli/ibs-cbs.js';
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
    expect(others).toEqual([]);
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

  it('is silent about a company whose lines are settled, and about one that is not enabled', async () => {
    const services = ['140101', '140201', '010701'].map((serviceCode) => ({ serviceCode, indOp: '050101' }));
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
    expect(checks).toHaveLength(21);
    expect(checks.at(-1)?.detail).toBe('2 more lines');
  });
});
