import type { Migration } from '../migrate.js';

/**
 * Received documents that could not be relied on, counted by what was told and why, so that a command in another process sees
 * them. The log has each invoice's story; losing these rows loses the alarm and nothing else.
 */
export const documentAlarmsMigration: Migration = {
  id: 40,
  name: 'document-alarms',
  sql: `create table if not exists document_alarms (
  notice text collate "C" not null,
  detail text collate "C" not null,
  seen bigint not null,
  first_at text collate "C" not null,
  last_at text collate "C" not null,
  last_stream text collate "C" not null,
  primary key (notice, detail)
);`,
};
