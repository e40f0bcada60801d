import { dirname } from 'node:path';
import {
  DataDirUnwritable,
  EmbeddedPostgresError,
  EmbeddedPostgresSilent,
} from '../../adapters/embedded-postgres/error.js';
import { NatsTopologyMismatch } from '../../adapters/queue-nats/topology-mismatch.js';
import { DatabaseUnsuitable, SHARED_SESSIONS } from '../../adapters/sql/database-checks.js';
import { FaultAtAddress, isFull, type SqlFault, sqlFault } from '../../adapters/sql/errors.js';
import { MigrationError } from '../../adapters/sql/migrate.js';
import { TamperedSecret } from '../../adapters/vault/envelope.js';
import { MasterKeyUnusable } from '../../adapters/vault/key-file.js';
import { WrongMasterKey } from '../../adapters/vault/master-key.js';
import { UnknownEventVersion } from '../../app/event-store/codec.js';
import { StoreUnavailable } from '../../app/event-store/event-store.js';
import { StreamContended } from '../../app/event-store/transact.js';
import { NotInForceYet } from '../../app/operator/transact-and-apply.js';
import { errorCode } from '../../lib/error-code.js';
import { AddressInvalid } from '../../ports/engine-address.js';
import {
  AppendOutcomeUnknown,
  type EventLogObstacle,
  EventLogUnavailable,
  EventLogUnreachable,
  EventTooLarge,
  MAX_EVENT_BYTES,
  UnreadableEvent,
} from '../../ports/event-log.js';
import { SealedTextChanged } from '../../ports/sealing-keys.js';
import { InvoiceRowsUnreadable } from '../../ports/support-reads.js';
import { WorkQueueUnavailable } from '../../ports/work-queue.js';
import { LiveRowsOfOtherVersion } from '../../projector/apply-now.js';
import { LogIdentityMismatch } from '../../projector/projector.js';
import { FolderInUse, LedgerDamaged } from '../../simulator/options.js';
import { AnchorFolderUnusable } from '../config/anchor-folder.js';
import { faultFields } from '../config/logger.js';
import { NotOwnAddress } from '../config/own-address.js';
import { SimulatorElsewhere } from '../engines/simulator.js';
import { LiveNotesAreReal } from '../engines/simulator-notes.js';
import { QUEUE_FAULTS } from '../engines/work-queue.js';
import { RowsNotReady } from '../operator/log-recovery.js';
import { rowFollowsLine } from '../operator/row-follows.js';
import { DemoFailed } from './demo-client.js';

export type StartupFault = { exit: 1 | 2 | 3; line: string };

/** The only place that turns an exception into a message for a person and an exit code. */
export const startupFault = (error: unknown): StartupFault =>
  error instanceof FaultAtAddress ? faultOf(error.cause, error.setBy) : faultOf(error, 'DATABASE_URL');

const faultOf = (error: unknown, addressSetBy: string): StartupFault => {
  if (error instanceof NotInForceYet)
    return {
      exit: faultOf(error.cause, addressSetBy).exit,
      line: `${rowFollowsLine(error.cause)}; the same command again does no harm, and writes it too`,
    };
  if (isOneOf(BAD_SETUP, error)) return { exit: 2, line: error.message };
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return {
      exit: 2,
      line: `${portOf(error)} is in use: stop the program that holds it or choose another port (${PORTS})`,
    };
  // From Node, for a relative path while the folder that this process works in is deleted.
  if (error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd') return { exit: 2, line: NO_FOLDER };
  const temporary = temporaryFolderLine(error);
  if (temporary !== undefined) return { exit: 2, line: temporary };
  if (code === 'EACCES' || code === 'EPERM') return { exit: 2, line: deniedLine(error, code) };
  if (isRefusedFolder(error)) return { exit: 2, line: unusableLine(error, 'ENOENT') };
  if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'EROFS') return { exit: 2, line: unusableLine(error, code) };
  if (code === KEY_OF_ANOTHER)
    return { exit: 2, line: `sslcert and sslkey in the address of the database do not belong together${saidAs(code)}` };
  if (error instanceof EmbeddedPostgresSilent) return { exit: 3, line: error.message };
  if (error instanceof WorkQueueUnavailable) return { exit: 3, line: queueLine(error) };
  const fault = sqlFault(error);
  if (fault !== 'other') {
    if (code === '57P01' || code === '57P03') return { exit: 3, line: `${STARTING_OR_STOPPING}${saidAs(code)}` };
    const line = code === RIGHT_MISSING ? RIGHTS_LINE : isFull(error) ? FULL_LINE : lineOfCode(code, fault);
    const hint = isNotSetUp(code) && addressSetBy.startsWith('DATABASE_') ? SETUP_HINT : '';
    return { exit: 3, line: `${line.replace('DATABASE_URL', addressSetBy)}${saidAs(code)}${hint}` };
  }
  if (code !== undefined && OF_ANOTHER_SESSION.has(code)) return { exit: 3, line: `${SHARED_SESSIONS}${saidAs(code)}` };
  if (error instanceof AddressInvalid) return { exit: 2, line: `${addressSetBy}: ${error.message}` };
  if (isOneOf(UNREACHABLE_LOG, error)) {
    const line = refusedWork(error.cause) ?? logLine(error, code);
    return { exit: 3, line };
  }
  if (error instanceof EventTooLarge) return { exit: 1, line: TOO_LARGE_LINE };
  if (isOneOf(REFUSED_HERE, error)) return { exit: 1, line: error.message };
  return { exit: 1, line: `failed unexpectedly: ${shown(error)}` };
};

const TOO_LARGE_LINE = `an event of the log holds ${MAX_EVENT_BYTES / 1024} KiB, and what this command would record is longer: shorten what was given`;

/** For a log that is reached and does not work, because its database takes no connection or no write. */
const refusedWork = (cause: unknown): string | undefined => {
  if (isFull(cause)) return `${FULL_LINE}${saidAs(errorCode(cause))}`;
  const fault = sqlFault(cause);
  const code = errorCode(cause);
  const line = fault === 'disk_full' || fault === 'read_only' ? DATABASE_LINES[fault] : LIMIT_LINES.get(code);
  return line && `${line}${saidAs(code)}`;
};

const lineOfCode = (code: unknown, fault: Exclude<SqlFault, 'other'>): string =>
  LIMIT_LINES.get(code) ?? LINES_OF_CODES.get(code) ?? DATABASE_LINES[fault];

const BAD_SETUP = [
  EmbeddedPostgresError,
  DataDirUnwritable,
  FolderInUse,
  SimulatorElsewhere,
  LiveNotesAreReal,
  NatsTopologyMismatch,
  MasterKeyUnusable,
  WrongMasterKey,
  MigrationError,
  LogIdentityMismatch,
  DatabaseUnsuitable,
  NotOwnAddress,
  AnchorFolderUnusable,
];

/** Their messages are texts of this code. */
const UNREACHABLE_LOG = [StoreUnavailable, EventLogUnavailable, AppendOutcomeUnknown];

/** The messages of these are written for a person. */
const REFUSED_HERE = [
  StreamContended,
  UnknownEventVersion,
  UnreadableEvent,
  TamperedSecret,
  SealedTextChanged,
  DemoFailed,
  LiveRowsOfOtherVersion,
  InvoiceRowsUnreadable,
  LedgerDamaged,
  RowsNotReady,
];

const isOneOf = (faults: readonly (abstract new (...parts: never[]) => Error)[], error: unknown): error is Error =>
  faults.some((fault) => error instanceof fault);

const DATABASE_LINES: Record<Exclude<SqlFault, 'other'>, string> = {
  unavailable: 'the database cannot be reached: check DATABASE_URL, or DATA_DIR in embedded mode, and try again',
  disk_full: 'no disk space is left: free some and start again; nothing was lost',
  read_only: 'the database takes no writes: DATABASE_URL must name the primary, and it must not be read-only',
  refused: 'the database refuses this user: check user, password, database name and sslmode in DATABASE_URL',
  untrusted: 'the TLS of the database is not trusted: check sslmode, sslrootcert and the host name in DATABASE_URL',
  unproven:
    'the server of the database does not prove by SCRAM-SHA-256 that it knows the password, and without verified TLS it gets none: see TLS in docs/operations/postgresql.md for its pg_hba.conf, its roles and sslmode in DATABASE_URL',
  no_tls:
    'the server of the database offers no TLS, which sslmode in DATABASE_URL demands: switch it on there (ssl = on), or check host and port',
};

const endedBy = (limit: string): string =>
  `the database ended the session by ${limit}: this process stood still for too long, or an administrator or a pooler has set that limit; try again`;

/** The server was reached, and a limit ended the statement or the session. */
const LIMIT_LINES: ReadonlyMap<unknown, string> = new Map([
  [
    '55P03',
    'the database waited too long for a lock that another session holds (DATABASE_LOCK_TIMEOUT_S): nfse doctor names the session while it lasts; end it, and try again',
  ],
  [
    '57014',
    'the database gave a statement up, by a time limit (DATABASE_STATEMENT_TIMEOUT_S) or because an administrator canceled it: try again',
  ],
  ['25P03', endedBy('idle_in_transaction_session_timeout')],
  ['25P04', endedBy('transaction_timeout')],
  ['57P05', endedBy('idle_session_timeout')],
]);

/** No address is wrong then. The embedded database starts and stops with its service. */
const STARTING_OR_STOPPING =
  'the database is starting or stopping, in embedded mode with its service: wait a moment, and try again';

/** Connections that have not signed in are in no list of the database itself. */
const FULL_LINE =
  'the database has no free connection, because processes of the service or other programs hold all that it allows: see which (pg_stat_activity as the administrator; on its machine, ss -tnp), end what is not needed or raise max_connections (docs/operations/scale.md#connections-to-postgresql), and try again';

const queueLine = ({ fault, code }: WorkQueueUnavailable): string => {
  const { what, cure } = QUEUE_FAULTS[fault];
  return `${what}: ${cure}, and try again${saidAs(code)}`;
};

/** Codes that say more than their kind of fault. */
const LINES_OF_CODES: ReadonlyMap<unknown, string> = new Map([
  // PgBouncer says this of whatever it does not take: a parameter, a user, a database. A server says it of a driver that is broken.
  [
    '08P01',
    'a pooler or proxy before the database refuses the connection, and its log says why: check user, password and database name in DATABASE_URL, and see poolers in docs/operations/postgresql.md',
  ],
  // A server that demands a client certificate answers with this code, too.
  [
    '28000',
    'the database refuses this user: check user, password, database name, the certificate of the client (sslcert, sslkey) and sslmode in DATABASE_URL',
  ],
]);

/** Only the address of the database names a certificate with its key in two files. */
const KEY_OF_ANOTHER = 'ERR_OSSL_X509_KEY_VALUES_MISMATCH';

/** A prepared statement is not there, or is there already: these are answers of a session that is not this connection's own. */
const OF_ANOTHER_SESSION: ReadonlySet<unknown> = new Set(['26000', '42P05']);

const RIGHT_MISSING = '42501';

const RIGHTS_LINE =
  'the user of DATABASE_URL lacks a right in the database: run nfse setup database --admin-url-file FILE with DATABASE_OWNER_URL set, where FILE holds the address of the administrator';

/** A server says the same of a user or a database that does not exist as of a wrong password or name. An administrator's address is a file's. */
const isNotSetUp = (code: unknown): boolean => code === '28P01' || code === '28000' || code === '3D000';

const SETUP_HINT =
  '; before the first start the user and the database are made by nfse setup database --admin-url-file FILE with DATABASE_OWNER_URL set, where FILE holds the address of the administrator';

const NO_LOG = 'the event log cannot be reached';

const LOG_LINE = `${NO_LOG}: check EVENTSTORE_URL, its user and its server (DATABASE_URL without it), and try again`;

const LOG_OBSTACLES: Record<EventLogObstacle, string> = {
  away: 'no server answers: check hosts and ports in EVENTSTORE_URL, and whether the servers run, and try again',
  leaderless:
    'its servers answer and none of them leads: a cluster needs more than half of its nodes, and a node needs a moment after its start; start the missing nodes, and try again',
  untrusted:
    'the certificate of its server is not trusted: check tlsCAFile and the host names in EVENTSTORE_URL, and the dates and the names in the certificate of each node, and try again',
  no_tls: 'its server offers no TLS, which EVENTSTORE_URL demands: switch it on there, or check host and port',
  needs_tls: 'its server demands TLS: set tls=true and tlsCAFile in EVENTSTORE_URL',
};

const LOG_REFUSED =
  'its server refuses the user: check user and password in EVENTSTORE_URL, both percent-encoded; nfse setup eventstore makes the user and lets it read the whole log';

const logLine = (error: Error, code: unknown): string => {
  if (error instanceof EventLogUnreachable) return `${NO_LOG}: ${LOG_OBSTACLES[error.obstacle]}${saidAs(error.said)}`;
  return `${code === 'access_denied' ? `${NO_LOG}: ${LOG_REFUSED}` : LOG_LINE}${saidAs(code ?? error.message)}`;
};

/** Appends the SQLSTATE or errno name, which can be looked up and contains no value; of the event log, what the port says of the fault. */
const saidAs = (code: unknown): string => (typeof code === 'string' ? ` (${code})` : '');

const PORTS = 'PORT, OPS_PORT, SIMULATOR_PORT, SIMULATOR_CONTROL_PORT';

const NO_FOLDER =
  'the folder in which this command runs is gone: change into another one, or set DATA_DIR and other paths from / on';

const portOf = (error: unknown): string =>
  error instanceof Error && 'port' in error ? `port ${String(error.port)}` : 'a port';

/** The path is the operator's own setting or a folder below it. */
const deniedLine = (error: unknown, code: string): string => {
  if (error instanceof Error && 'path' in error && typeof error.path === 'string')
    return `${error.path} may not be used by this user (${code}): check its owner and mode`;
  // A connection that a firewall refuses has a port too, which is another program's.
  if (error instanceof Error && 'syscall' in error && error.syscall === 'listen' && 'port' in error)
    return `${portOf(error)} may not be used by this user (${code}): choose another port (${PORTS})`;
  return `a file or port may not be used by this user (${code}): check DATA_DIR and the ports`;
};

/** For a folder of TMPDIR that cannot be made; undefined for other faults. */
const temporaryFolderLine = (error: unknown): string | undefined => {
  if (!(error instanceof Error && 'syscall' in error && error.syscall === 'mkdtemp')) return undefined;
  const code = errorCode(error);
  // Another folder of the same disk would not help.
  if (code === undefined || code === 'ENOSPC' || !('path' in error)) return undefined;
  return `no temporary folder can be made in ${dirname(String(error.path))} (${code}): set TMPDIR to a folder that this user may write`;
};

/** Some file systems, such as /proc, say of a folder that they do not take that it is not there. */
const isRefusedFolder = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'mkdir' && errorCode(error) === 'ENOENT';

const unusableLine = (error: unknown, code: string): string =>
  error instanceof Error && 'path' in error
    ? `${String(error.path)} cannot be made (${code}): choose another path`
    : `a folder cannot be made (${code}): check DATA_DIR`;

/** Never uses the message: a library may quote its input in it. */
const shown = (error: unknown): string => {
  const { error: name, code, at } = faultFields(error);
  return `${name}${code === undefined ? '' : ` (${code})`}${at === undefined ? '' : ` at ${at}`}`;
};
