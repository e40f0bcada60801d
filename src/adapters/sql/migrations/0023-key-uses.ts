import type { Migration } from '../migrate.js';

/** When an API key was last used, to the hour; nothing decides by it. */
export const keyUsesMigration: Migration = {
  id: 23,
  name: 'key-uses',
  sql: `create table if not exists key_uses (
  key_id text collate "C" primary key,
  last_used_at text collate "C" not null
);`,
};
