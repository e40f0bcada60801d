import type { Migration } from '../migrate.js';

/**
 * The last answers of the municipal parameters API: one row per question and environment, its answer as JSON. A cache: it may be
 * emptied at any time.
 */
export const municipalParametersMigration: Migration = {
  id: 19,
  name: 'municipal-parameters',
  sql: `
create table if not exists municipal_parameters (
  mode text collate "C" not null,
  ibge text collate "C" not null,
  place text collate "C" not null,
  told text,
  told_at text collate "C",
  asked_at text collate "C" not null,
  failures integer not null default 0,
  reason text,
  primary key (ibge, mode, place)
);
`,
};
