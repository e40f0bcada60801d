import type { Migration } from '../migrate.js';

/** Where the relay goes on when the queue outlives its process. Kept per log: another log begins anew. */
export const relayCheckpointMigration: Migration = {
  id: 15,
  name: 'relay-checkpoint',
  sql: `create table if not exists relay_checkpoint (
  log_identity text collate "C" primary key,
  position numeric(20) not null
);`,
};
