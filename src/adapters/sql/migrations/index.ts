import { readFileSync } from 'node:fs';
import type { Migration } from '../migrate.js';

/**
 * Forward only, in order; the text of a step is in the file of its id and name. A step that has run on any database is never edited: a checksum
 * covers each byte, also the line feed at the beginning or end of a file. What a file cannot say without other bytes is said here.
 */
const STEPS: readonly (readonly [id: number, name: string])[] = [
  // The event log (docs/architecture.md#streams-and-events). `record` is the exact text that was hashed; the other columns repeat what queries need.
  // The head row is lock and counter in one. It stays locked until the commit, so positions become visible in order.
  [1, 'event-log'],
  // Guards and records of look-ups (docs/architecture.md#uniqueness). Every instant is ISO UTC text from the caller, never the server's clock.
  [10, 'guards'],
  // The vault. Every `sealed` is AES-256-GCM text under a key derived from the master key, which the database never holds.
  [11, 'vault'],
  // The checkpoint of each version of a projection. The rows of a version are in a schema of the version, made when it first runs. Schema `read`
  // holds the views of the active version (docs/projections.md).
  [12, 'projections'],
  // Streams of deleted test invoices whose earlier events are still to be removed (docs/operations/retention.md#what-vanishes).
  [13, 'pending-cuts'],
  // Projection generations side by side: live, building, and previous, which is kept for a rollback. Existing rows become generation 1.
  [14, 'projection-generations'],
  // The checkpoint of the relay, for a queue that outlives the process. It is kept per log: the relay reads another log from its beginning.
  [15, 'relay-checkpoint'],
  // How much of a log this database holds (ADR 14). A database that is empty or was restored from an older backup has no row, or an older one. A row
  // in `log_set_back` says that the log was restored instead.
  [16, 'guards-position'],
  // Since when a generation of the master key seals, and who activated it. Both are null for the generation of older databases, which has sealed from
  // the beginning. Only a generation with a row seals; a key that is only in the key file waits.
  [17, 'master-key-generations'],
  // The last answers of the municipal parameters API: one row per question and environment, the answer as JSON. A cache, which may be emptied at any
  // time.
  [19, 'municipal-parameters'],
  // The cursor of the reconciliation, one row per mode; losing it costs the current round.
  [20, 'reconciliation'],
  // Keys that sign exports: the public half in clear, the private half sealed as every secret of the vault.
  [21, 'signing-keys'],
  // Parked work items of the in-process queue, so that an operator's command sees them and may ask for a retry. Queue and rows are lost with their
  // process; the next process queues all open work again.
  [22, 'parked-taps'],
  // When an API key was last used, to the hour; no decision depends on it.
  [23, 'key-uses'],
  // The decisions about the guards of 0010, several in one statement, each row with its own instants. Every statement takes rows in the same order,
  // so that statements wait for each other but never in a circle.
  [24, 'batched-guards'],
  // Since when a generation of the master key is given up as lost, and by whom (ADR 26). What it sealed stays closed, and the service starts without
  // it. After the loss of these rows the generation must be given up again, nothing more.
  [27, 'given-up-generations'],
  // The decisions of 0024 for hashes under a key (ADR 32). A claim also matches a body hash that the caller knows to be of the same body. A mark is
  // stored under each key that may be in use; older marks under the plain hash refuse too.
  [30, 'keyed-guards'],
  // The service changes the log through functions of the tables' owner, so that it needs no right to change or remove a row (ADR 33). Each function
  // names the schemas that it searches, the temporary one last: a caller cannot put a table before the owner's.
  [35, 'least-rights'],
  // Received documents that could not be relied on, counted by notice and reason, so that a command in another process sees them. The log has each
  // invoice's history, so losing these rows loses only the notices.
  [40, 'document-alarms'],
  // `event_log_append` of step 1, which now refuses arguments that no append of the product has. It runs with the owner's rights, so a caller must
  // not choose positions in the log (ADR 33). The checks run before the lock is taken. 1 MiB is four times what the port allows an event.
  [41, 'checked-append'],
  // Acceptances with an Idempotency-Key in one transaction: the key, which has its invoice at once, the event, and the mark of the duplicate window
  // (ADR 42). Other appends of the same batch go with them.
  [42, 'guarded-append'],
  // Companies whose certificate the authorizer refuses, so that every process holds their sends back and operators see them (ADR 47). Losing a row
  // costs one more refused send.
  [43, 'certificate-refusals'],
  // How far the queue that the ADN keeps for each company was read (ADR 50). Losing the rows costs reading the queues again.
  [44, 'distribution'],
  // Until here a branch with its head office's certificate followed the queue of the head office, so every queue is read from its beginning again.
  [45, 'queue-of-the-company'],
  // The functions of 0030 that place marks of the duplicate window. A mark more than a minute later than the request was placed by a clock that has
  // been set back since: it refuses no request, and the request replaces it.
  [46, 'set-back-marks'],
  // `event_log_append` of 0041, which now refuses acceptances and requests of cancellation while issuing over this log is paused (ADR 14). Events of
  // workers and of log recovery pass. The record of a pause takes the same lock, so no acceptance comes after the record.
  [47, 'paused-append'],
  // The functions of 0046, where a mark counts that is up to five minutes later than the request: a process whose clock is ahead by less places marks
  // that refuse the requests of the others.
  [48, 'marks-of-clocks-ahead'],
];

const textOf = (id: number, name: string): string =>
  readFileSync(new URL(`./${String(id).padStart(4, '0')}-${name}.sql`, import.meta.url), 'utf8');

export const migrations: readonly Migration[] = STEPS.map(([id, name]) => ({ id, name, sql: textOf(id, name) }));
