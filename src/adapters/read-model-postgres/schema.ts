import type { Kysely } from 'kysely';
import type { CatalogLinesRow } from '../../../projections/catalog-lines.js';
import type { CompanyRow } from '../../../projections/companies.js';
import type { CredentialRow } from '../../../projections/credentials.js';
import type { DeadlineRow } from '../../../projections/deadlines.js';
import type { InvoiceRow } from '../../../projections/invoices.js';
import type { MunicipalityRow } from '../../../projections/municipalities.js';
import type { SystemRow } from '../../../projections/system.js';
import type { RegistryRow } from '../../../projections/tax-registry.js';

/** The views of schema `read`. Each shows the live rows of one projection. */
export type ReadSchema = {
  'read.catalog_lines': CatalogLinesRow;
  'read.companies': CompanyRow;
  'read.credentials': CredentialRow;
  'read.deadlines': DeadlineRow;
  'read.invoices': InvoiceRow;
  'read.municipalities': MunicipalityRow;
  'read.registry': RegistryRow;
  'read.system': SystemRow;
};

export type ReadDatabase = Kysely<ReadSchema>;
