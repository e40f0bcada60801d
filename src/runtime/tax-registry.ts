import type pg from 'pg';
import * as v from 'valibot';
import type { TaxRegistry } from '../ports/tax-registry.js';
import type { Config } from './config.js';

/** The registry is asked during the POST: it gets this long and no longer (design section 5). */
const PATIENCE_MS = 500;

const answer = v.object({ legal_name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(300)) });

/** Companies that this service serves are known to it; `TAX_REGISTRY_URL` is asked for the others. */
export const openTaxRegistry = (config: Config, pool: pg.Pool): TaxRegistry => ({
  lookup: async (cnpj) => {
    const { rows } = await pool.query<{ state: string }>('select state from read.companies where company_id = $1', [
      cnpj,
    ]);
    const known = rows[0] === undefined ? undefined : legalNameIn(rows[0].state);
    if (known !== undefined) return { cnpj, legalName: known };
    return config.taxRegistryUrl === undefined ? undefined : await askRegistry(config.taxRegistryUrl, cnpj);
  },
});

const legalNameIn = (state: string): string | undefined => {
  const parsed = v.safeParse(v.object({ registration: v.object({ legalName: v.string() }) }), JSON.parse(state));
  return parsed.success ? parsed.output.registration.legalName : undefined;
};

const askRegistry = async (url: string, cnpj: string) => {
  try {
    const response = await fetch(`${url}/${cnpj}`, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' });
    const parsed = v.safeParse(answer, response.ok ? await response.json() : undefined);
    return parsed.success ? { cnpj, legalName: parsed.output.legal_name } : undefined;
  } catch {
    return undefined;
  }
};
