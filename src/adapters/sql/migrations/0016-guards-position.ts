import type { Migration } from '../migrate.js';

/**
 * How much of a log this database holds (design section 5). A database that is empty or was restored from an older backup
 * has no row, or an older one; a row in `log_set_back` says that it was the log that was restored.
 */
export const guardsPositionMigration: Migration = {
  id: 16,
  name: 'guards-position',
  sql: `
create table if not exists guards_position (
  log_identity text collate "C" primary key,
  guards numeric(20),
  operator_rows numeric(20)
) with (fillfactor = 20);

create table if not exists log_set_back (
  log_identity text collate "C" primary key,
  head numeric(20),
  seen_at text collate "C" not null
);
`,
};
