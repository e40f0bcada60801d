import type { Migration } from '../migrate.js';

/**
 * Where each version of a projection stands; its rows live in a schema of their own, made when it first runs, and
 * `read` holds the views that point at the active version (design section 7).
 */
export const projectionsMigration: Migration = {
  id: 12,
  name: 'projections',
  sql: `
create schema if not exists read;

create table if not exists checkpoints (
  name text collate "C" not null,
  version integer not null,
  log_identity text not null,
  position text,
  updated_at text not null,
  primary key (name, version)
) with (fillfactor = 20);
`,
};
