import type { OperatorLine } from '../../domain/catalog/events.js';
import type { LocalEntry } from '../../domain/registry/entry.js';
import type { ReadModel } from '../../ports/read-model.js';
import type { ReadDatabase } from './schema.js';

type ReferenceReads = Pick<ReadModel, 'catalogLines' | 'municipalityDemands' | 'registryEntry' | 'byAccessKeys'>;

/** What operators entered, and which invoices hold an access key already. */
export const referenceReads = (db: ReadDatabase): ReferenceReads => ({
  catalogLines: async (cnaes) => {
    const all = db.selectFrom('read.catalog_lines').select(['cnae', 'lines']).orderBy('cnae');
    if (cnaes !== 'all' && cnaes.length === 0) return new Map();
    const rows = await (cnaes === 'all' ? all : all.where('cnae', 'in', [...cnaes])).execute();
    return new Map(rows.map(({ cnae, lines }) => [cnae, JSON.parse(lines) as OperatorLine[]]));
  },
  municipalityDemands: async (ibge) => {
    const row = await db
      .selectFrom('read.municipalities')
      .select(['requires_customer', 'requires_registration'])
      .where('ibge', '=', ibge)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { requires_customer: requiresCustomer, requires_registration: requiresRegistration } = row;
    return {
      ...(requiresCustomer === null ? {} : { requiresCustomer }),
      ...(requiresRegistration === null ? {} : { requiresRegistration }),
    };
  },
  registryEntry: async (cnpj) => {
    const row = await db.selectFrom('read.registry').select('entry').where('cnpj', '=', cnpj).executeTakeFirst();
    return row === undefined ? undefined : (JSON.parse(row.entry) as LocalEntry);
  },
  byAccessKeys: async (accessKeys) => {
    if (accessKeys.length === 0) return [];
    const rows = await db
      .selectFrom('read.invoices')
      .select(['access_key', 'stream'])
      .where('access_key', 'in', [...accessKeys])
      .execute();
    return rows.flatMap(({ access_key: accessKey, stream }) => (accessKey === null ? [] : [{ accessKey, stream }]));
  },
});
