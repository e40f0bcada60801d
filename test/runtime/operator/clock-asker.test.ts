import { expect, it } from 'vitest';
import type { Company } from '../../../src/domain/company/company.js';
import { companyToAskAs, offsetCheck } from '../../../src/runtime/operator/clock-checks.js';

const companyOf = (n: number): Company =>
  ({
    enabled: true,
    registration: { cnpj: `${n}` },
    certificate: { certificateId: `certificate-${n}`, notAfter: '2027-01-01T00:00:00.000Z' },
  }) as unknown as Company;

const parts = (companies: readonly Company[]) => ({
  engines: { readModel: { companies: async () => companies }, vault: { holds: async () => true } },
  clock: { now: () => '2026-11-30T00:00:00.000Z' },
});

const refusalOf = (n: number) => ({ mode: 'live', companyId: `${n}`, certificateId: `certificate-${n}` }) as const;

it('the clock is asked with a certificate that the authorizer of the mode takes, where there is one', async () => {
  const askers = async (mode: 'live' | 'test', refused: readonly number[], companies = [1, 2]) => {
    const asking = await companyToAskAs(mode, refused.map(refusalOf), parts(companies.map(companyOf)));
    return asking && [asking.company.registration.cnpj, asking.isRefused];
  };
  expect(await askers('live', [])).toEqual(['1', false]);
  expect(await askers('live', [1])).toEqual(['2', false]);
  expect(await askers('test', [1])).toEqual(['1', false]);
  expect(await askers('live', [1, 2])).toEqual(['1', true]);
  expect(await askers('live', [1], [])).toBeUndefined();
});

it('a refused certificate that had to ask is the cure of its line, unless nothing answered', () => {
  const config = { authorizer: { live: 'https://localhost' }, limits: { queuedSeconds: 900 } } as unknown as Parameters<
    typeof offsetCheck
  >[3];
  const cure = (reason: string, isRefused: boolean) =>
    offsetCheck('clock live', { kind: 'unknown', reason }, { mode: 'live', isRefused }, config).cure;
  expect(cure('HTTP 403 without its time', true)).toMatch(/refuses the certificate .* certificate CNPJ mode/);
  expect(cure('HTTP 403 without its time', false)).toMatch(/^check the address/);
  expect(cure('ECONNREFUSED', true)).toMatch(/^check the address/);
});
