import type { Migration } from '../migrate.js';
import { eventLogMigration } from './0001-event-log.js';
import { guardsMigration } from './0010-guards.js';
import { batchedGuardsMigration } from './0024-batched-guards.js';
import { keyedGuardsMigration } from './0030-keyed-guards.js';
import { leastRightsMigration } from './0035-least-rights.js';
import { checkedAppendMigration } from './0041-checked-append.js';
import { guardedAppendMigration } from './0042-guarded-append.js';
import { setBackMarksMigration } from './0046-set-back-marks.js';
import { pausedAppendMigration } from './0047-paused-append.js';

/** How far the queue that the ADN keeps for each company was read (ADR 50). Losing the rows costs reading the queues again. */
const distributionMigration: Migration = {
  id: 44,
  name: 'distribution',
  sql: `create table if not exists distribution_progress (
  mode text collate "C" not null,
  company_id text collate "C" not null,
  due_at text collate "C" not null,
  progress text not null,
  primary key (mode, company_id)
);`,
};

/** Until here a branch with its head office's certificate followed the queue of the head office, so every queue is read from its beginning again. */
const queueOfTheCompanyMigration: Migration = {
  id: 45,
  name: 'queue-of-the-company',
  sql: 'delete from distribution_progress;',
};

/**
 * Companies whose certificate the authorizer refuses, so that every process holds their sends back and operators see them (ADR 47). Losing a row
 * costs one more refused send.
 */
const certificateRefusalsMigration: Migration = {
  id: 43,
  name: 'certificate-refusals',
  sql: `create table if not exists certificate_refusals (
  mode text collate "C" not null,
  company_id text collate "C" not null,
  certificate_id text collate "C" not null,
  reason text not null,
  since text collate "C" not null,
  seen bigint not null,
  last_at text collate "C" not null,
  probe_at text collate "C" not null,
  primary key (mode, company_id)
);`,
};

/**
 * Received documents that could not be relied on, counted by notice and reason, so that a command in another process sees them. The log has each
 * invoice's history, so losing these rows loses only the notices.
 */
const documentAlarmsMigration: Migration = {
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

/**
 * Since when a generation of the master key is given up as lost, and by whom (ADR 26). What it sealed stays closed, and the service starts without
 * it. After the loss of these rows the generation must be given up again, nothing more.
 */
const givenUpGenerationsMigration: Migration = {
  id: 27,
  name: 'given-up-generations',
  sql: `
alter table vault_master_keys
  add column if not exists given_up_at text collate "C",
  add column if not exists given_up_by text collate "C";
`,
};

/** When an API key was last used, to the hour; no decision depends on it. */
const keyUsesMigration: Migration = {
  id: 23,
  name: 'key-uses',
  sql: `create table if not exists key_uses (
  key_id text collate "C" primary key,
  last_used_at text collate "C" not null
);`,
};

/**
 * Parked work items of the in-process queue, so that an operator's command sees them and may ask for a retry. Queue and rows are lost with their
 * process; the next process queues all open work again.
 */
const parkedTapsMigration: Migration = {
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

/** Keys that sign exports: the public half in clear, the private half sealed as every secret of the vault. */
const signingKeysMigration: Migration = {
  id: 21,
  name: 'signing-keys',
  sql: `
create table if not exists vault_signing_keys (
  public_key text collate "C" primary key,
  sealed text not null,
  created_at text collate "C" not null
);
`,
};

/** The cursor of the reconciliation, one row per mode; losing it costs the current round. */
const reconciliationMigration: Migration = {
  id: 20,
  name: 'reconciliation',
  sql: `
create table if not exists reconciliation_walks (
  mode text collate "C" primary key,
  walk text not null
);
`,
};

/**
 * The last answers of the municipal parameters API: one row per question and environment, the answer as JSON. A cache, which may be emptied at any
 * time.
 */
const municipalParametersMigration: Migration = {
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

/**
 * Since when a generation of the master key seals, and who activated it. Both are null for the generation of older databases, which has sealed from
 * the beginning. Only a generation with a row seals; a key that is only in the key file waits.
 */
const masterKeyGenerationsMigration: Migration = {
  id: 17,
  name: 'master-key-generations',
  sql: `
alter table vault_master_keys
  add column if not exists activated_at text collate "C",
  add column if not exists activated_by text collate "C";
`,
};

/**
 * How much of a log this database holds (ADR 14). A database that is empty or was restored from an older backup has no row, or an older one. A row
 * in `log_set_back` says that the log was restored instead.
 */
const guardsPositionMigration: Migration = {
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

/** The checkpoint of the relay, for a queue that outlives the process. It is kept per log: the relay reads another log from its beginning. */
const relayCheckpointMigration: Migration = {
  id: 15,
  name: 'relay-checkpoint',
  sql: `create table if not exists relay_checkpoint (
  log_identity text collate "C" primary key,
  position numeric(20) not null
);`,
};

/** Projection generations side by side: live, building, and previous, which is kept for a rollback. Existing rows become generation 1. */
export const projectionGenerationsMigration: Migration = {
  id: 14,
  name: 'projection-generations',
  sql: `
alter table checkpoints
  add column generation integer not null default 1,
  add column role text collate "C" not null default 'live' check (role in ('live', 'building', 'previous')),
  add column compatible_from integer;
update checkpoints set compatible_from = version;
alter table checkpoints
  alter column generation drop default,
  alter column role drop default,
  alter column compatible_from set not null,
  drop constraint checkpoints_pkey,
  add primary key (name, generation),
  -- Deferrable: a rollback exchanges two roles in one statement.
  add constraint checkpoints_one_of_each_role unique (name, role) deferrable initially immediate;

do $$
declare
  kept record;
begin
  for kept in select name, version from checkpoints loop
    execute format('alter schema %I rename to %I',
      format('p_%s_v%s', kept.name, kept.version), format('p_%s_v%s_g1', kept.name, kept.version));
  end loop;
end
$$;
`,
};

/** Streams of deleted test invoices whose earlier events are still to be removed (docs/operations/retention.md#what-vanishes). */
const pendingCutsMigration: Migration = {
  id: 13,
  name: 'pending-cuts',
  sql: `create table if not exists pending_cuts (stream text collate "C" primary key);`,
};

/**
 * The checkpoint of each version of a projection. The rows of a version are in a schema of the version, made when it first runs. Schema `read`
 * holds the views of the active version (docs/projections.md).
 */
const projectionsMigration: Migration = {
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

/** The vault. Every `sealed` is AES-256-GCM text under a key derived from the master key, which the database never holds. */
const vaultMigration: Migration = {
  id: 11,
  name: 'vault',
  sql: `
create table if not exists vault_master_keys (
  generation text collate "C" primary key,
  key_id text collate "C" not null
);

create table if not exists vault_day_keys (
  day text collate "C" primary key,
  sealed text not null
);

create table if not exists vault_certificates (
  company_id text collate "C" not null,
  certificate_id text collate "C" not null,
  sealed text not null,
  created_at text not null,
  primary key (company_id, certificate_id)
);
`,
};

/** Forward only, in order. A migration that has run on any database is never edited. */
export const migrations: readonly Migration[] = [
  eventLogMigration,
  guardsMigration,
  vaultMigration,
  projectionsMigration,
  pendingCutsMigration,
  projectionGenerationsMigration,
  relayCheckpointMigration,
  guardsPositionMigration,
  masterKeyGenerationsMigration,
  municipalParametersMigration,
  reconciliationMigration,
  signingKeysMigration,
  parkedTapsMigration,
  keyUsesMigration,
  batchedGuardsMigration,
  givenUpGenerationsMigration,
  keyedGuardsMigration,
  leastRightsMigration,
  documentAlarmsMigration,
  checkedAppendMigration,
  guardedAppendMigration,
  certificateRefusalsMigration,
  distributionMigration,
  queueOfTheCompanyMigration,
  setBackMarksMigration,
  pausedAppendMigration,
];
