import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthorizerOfRun } from './authorizer.js';
import type { Tenant } from './judge/raw.js';
import { runNfse } from './program.js';

/** Companies and modes that must not see each other. */
export const TENANTS: Readonly<Record<TenantName, Tenant>> = {
  'a-test': { cnpj: '12345678000195', mode: 'test' },
  'a-live': { cnpj: '12345678000195', mode: 'live' },
  'b-test': { cnpj: '11444777000161', mode: 'test' },
};

export const TENANT_NAMES = ['a-test', 'a-live', 'b-test'] as const;
export type TenantName = (typeof TENANT_NAMES)[number];

/** API keys by tenant; in memory only. */
export type Keys = Readonly<Record<TenantName, string>>;

const COMPANIES = [
  { cnpj: '12345678000195', legalName: 'ESTUDIO EXEMPLO LTDA' },
  { cnpj: '11444777000161', legalName: 'OFICINA EXEMPLO LTDA' },
];

/** Registers the companies with the operator's commands, as their documents say, while the service runs. */
export const makeTenants = async (
  env: Readonly<Record<string, string>>,
  authorizer: AuthorizerOfRun,
): Promise<Keys> => {
  const register = async ({ cnpj, legalName }: (typeof COMPANIES)[number]): Promise<void> => {
    const file = join(authorizer.folder, `${cnpj}.json`);
    await writeFile(file, JSON.stringify(companyFile(cnpj, legalName)));
    const { pfx, passwordFile } = await authorizer.pfx(cnpj, legalName);
    await runNfse(['company', 'put', file], env);
    await runNfse(['certificate', 'put', cnpj, '--pfx', pfx, '--password-file', passwordFile], env);
    await runNfse(['company', 'enable', cnpj], env);
  };
  await Promise.all(COMPANIES.map(register));
  const keyOf = async (name: TenantName): Promise<string> => {
    const { cnpj, mode } = TENANTS[name];
    const made = (await runNfse(['key', 'create', cnpj, '--mode', mode], env)) as { key: string };
    return made.key;
  };
  return { 'a-test': await keyOf('a-test'), 'a-live': await keyOf('a-live'), 'b-test': await keyOf('b-test') };
};

const companyFile = (cnpj: string, legalName: string) => ({
  cnpj,
  legal_name: legalName,
  city: 'Rio de Janeiro',
  state: 'RJ',
  tax_regime: 'simples',
  simples_assessment: 'all',
  approximate_tax_percent: '6.00',
  activities: [
    { cnae: '6201501', is_main: true },
    { cnae: '9602501', is_main: false },
  ],
  automatic_issuance: true,
  issuer_configured: true,
  issuer_approved: true,
});
