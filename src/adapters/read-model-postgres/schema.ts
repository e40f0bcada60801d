import type { Kysely } from 'kysely';
import type { Mode } from '../../domain/shared/ids.js';

/** The views of schema `read`, as this version of the projections writes them. */
export type ReadSchema = {
  'read.companies': { company_id: string; revision: number; enabled: boolean; state: string };
  'read.credentials': {
    key_id: string;
    key_hash: string;
    company_id: string;
    mode: Mode;
    /** JSON list. */
    scopes: string;
    revoked: boolean;
  };
  'read.deadlines': {
    stream: string;
    mode: Mode;
    company_id: string;
    work: 'issue' | 'cancel' | null;
    work_since: string | null;
    started: boolean;
    began_at: string | null;
    retention_since: string | null;
  };
  'read.catalog_lines': {
    cnae: string;
    /** JSON list. */
    lines: string;
  };
  'read.municipalities': { ibge: string; requires_customer: boolean | null; requires_registration: boolean | null };
  'read.registry': {
    cnpj: string;
    /** JSON; name and address in it are sealed. */
    entry: string;
  };
  'read.invoices': { stream: string; access_key: string | null };
  'read.system': { key: string; switched_off: boolean };
};

export type ReadDatabase = Kysely<ReadSchema>;
