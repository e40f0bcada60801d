import { errorCode } from '../../lib/error-code.js';

/** What a failed statement says about the state of the server. */
export type SqlFault =
  | 'unavailable'
  | 'disk_full'
  | 'read_only'
  /** The server refuses this user, or the user this database. */
  | 'refused'
  /** The server's certificate cannot be trusted. */
  | 'untrusted'
  /** The address demands TLS, and the server offers none. */
  | 'no_tls'
  /** Without verified TLS, the server does not prove that it knows the password. */
  | 'unproven'
  | 'other';

/** What a server does instead of proving that it knows the password. */
export type ProofMissing = 'PASSWORD_ASKED_IN_CLEAR' | 'PASSWORD_ASKED_AS_MD5' | 'NO_PROOF_OF_PASSWORD';

/** The server may be another program on the right port. It got neither the password nor a statement. */
export class ServerUnproven extends Error {
  override readonly name = 'ServerUnproven';
  constructor(readonly code: ProofMissing) {
    super('the server of the database does not prove that it knows the password');
  }
}

/** Classifies an error of `pg` or of a socket by its code; an error without a code by the few messages of `pg`. */
export const sqlFault = (error: unknown): SqlFault => {
  if (error instanceof ServerUnproven) return 'unproven';
  const first = firstOf(error);
  const code = errorCode(first);
  if (code === 'ENOENT') return isOfConnect(first) ? 'unavailable' : 'other';
  if (code === '53100' || code === 'ENOSPC') return 'disk_full';
  if (code === READ_ONLY) return 'read_only';
  if (code !== undefined) return faultOfCode(code);
  if (!(error instanceof Error)) return 'other';
  return BY_MESSAGE.find(([message]) => message.test(error.message))?.[1] ?? 'other';
};

/**
 * The errno name of what an error of `pg` without a code says of the connection: a server that is silent, or a connection that is gone. Undefined for
 * any other error.
 */
export const silenceCode = (error: Error): 'ETIMEDOUT' | 'ECONNRESET' | undefined => {
  if (SILENT.test(error.message)) return 'ETIMEDOUT';
  return GONE.test(error.message) ? 'ECONNRESET' : undefined;
};

/** Carries a fault as its `cause`, and the variable or the file by which the address of that database is set. */
export class FaultAtAddress extends Error {
  override readonly name = 'FaultAtAddress';
  constructor(
    readonly setBy: string,
    cause: unknown,
  ) {
    super(`a fault of the engine that ${setBy} names`, { cause });
  }
}

/** The rejection of `work` as a `FaultAtAddress`, when it is a fault of the database and not one already. */
export const atAddress = <T>(setBy: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw sqlFault(error) === 'other' ? error : new FaultAtAddress(setBy, error);
  });

/** The server takes no more connections: all that it allows, this user or this database has, are held. */
export const isFull = (error: unknown): boolean => codeOf(error) === TOO_MANY_CONNECTIONS;

const TOO_MANY_CONNECTIONS = '53300';

const faultOfCode = (code: string): SqlFault => {
  if (UNAVAILABLE.has(code) || /^08...$/.test(code)) return 'unavailable';
  if (REFUSED.has(code) || /^28...$/.test(code)) return 'refused';
  return UNTRUSTED.test(code) ? 'untrusted' : 'other';
};

/** The address leads to a standby. It may not show yet what the primary has acknowledged, so what it lacks proves nothing. */
export class StandbyRefused extends Error {
  override readonly name = 'StandbyRefused';
  readonly code = READ_ONLY;
  constructor() {
    super('the database is a standby');
  }
}

/**
 * True when the server answered with an ERROR: the statement was rolled back and had no effect. A FATAL or PANIC ends the session at any moment,
 * even after the commit, and proves nothing. Where `lc_messages` translates the word, the code decides.
 */
export const isRolledBack = (error: unknown): boolean => {
  if (!(error instanceof Error) || !('severity' in error)) return false;
  if (ENGLISH.has(String(error.severity))) return error.severity === 'ERROR';
  const code = codeOf(error);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !MAY_END_A_SESSION.test(code);
};

const ENGLISH: ReadonlySet<string> = new Set(['ERROR', 'FATAL', 'PANIC']);

/**
 * Codes that may come with the end of a session: lost connections, time limits of sessions, lack of resources, configuration files, shutdowns, and
 * faults of the system and of the server.
 */
const MAY_END_A_SESSION = /^(?:08|25P0[34]|53|F0|57P|58|XX)/;

const READ_ONLY = '25006';

/** SQLSTATE or errno name. */
const codeOf = (error: unknown): string | undefined => errorCode(firstOf(error));

/** An AggregateError (several addresses tried) counts as its first error. */
const firstOf = (error: unknown): unknown =>
  error instanceof AggregateError && error.errors.length > 0 ? firstOf(error.errors[0]) : error;

/** A Unix socket of the server that is not there; other calls say the same of a file or a folder. */
const isOfConnect = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'connect';

const UNAVAILABLE: ReadonlySet<string> = new Set([
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  '40001', // serialization_failure, also a conflict with recovery on a standby: the statement may be repeated
  '40P01', // deadlock_detected: the statement may be repeated
  '53200', // out_of_memory
  TOO_MANY_CONNECTIONS,
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '57014', // query_canceled, by statement_timeout
  '55P03', // lock_not_available, by lock_timeout
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

const REFUSED: ReadonlySet<string> = new Set([
  '3D000', // no such database
  '42501', // insufficient_privilege
]);

/** Codes of Node and OpenSSL for an invalid certificate and for a failed handshake. */
const UNTRUSTED =
  /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|CRL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|^ERR_(?:TLS|SSL)|^EPROTO$/;

const SILENT =
  /timeout exceeded when trying to connect|timeout expired|Query read timeout|terminated due to connection timeout/i;

const GONE = /Connection terminated|Client was closed|not queryable/i;

/** Messages of pg that come without a code. */
const BY_MESSAGE: readonly (readonly [RegExp, SqlFault])[] = [
  [SILENT, 'unavailable'],
  [GONE, 'unavailable'],
  [/does not support SSL connections/, 'no_tls'],
  [/establishing an SSL connection/, 'untrusted'],
  [/^SASL|client password must be a string/, 'refused'],
];
