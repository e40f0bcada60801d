import type { Migration } from '../migrate.js';

/**
 * What the in-process queue has parked, so that an operator's command sees it and may ask for another try. The queue itself is
 * lost with its process, and these rows with it: the next one taps all open work again.
 */
export const parkedTapsMigration: Migration = {
  id: 22,
  name: 'parked-taps',
  sql: `create table if not exists parked_taps (
  stream text collate "C" not null,
  kind text collate "C" not null,
  message_id text collate "C" not null,
  reason text not null,
  parked_at text collate "C" not null,
  retry_asked boolean not null default false,
  primary key (stream, kind)
);`,
};
