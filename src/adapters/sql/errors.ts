/** What a failed statement says about the server, whatever it says about the statement. */
export type SqlFault = 'unavailable' | 'disk_full' | 'read_only' | 'other';

/** Classifies an error of `pg` or of a socket by its code; errors without one are judged by pg's own few messages. */
export const sqlFault = (error: unknown): SqlFault => {
  const code = codeOf(error);
  if (code === '53100' || code === 'ENOSPC') return 'disk_full';
  if (code === '25006') return 'read_only';
  if (code !== undefined && (UNAVAILABLE.has(code) || /^08...$/.test(code))) return 'unavailable';
  return code === undefined && error instanceof Error && LOST.test(error.message) ? 'unavailable' : 'other';
};

/**
 * True when the server answered with an ERROR: the statement was rolled back, so it certainly did nothing. A FATAL or
 * PANIC ends the session at any moment, even after the commit, and proves nothing.
 */
export const isRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR';

/** SQLSTATE or errno name. An AggregateError (several addresses tried) is as its first error. */
const codeOf = (error: unknown): string | undefined => {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
};

const UNAVAILABLE: ReadonlySet<string> = new Set([
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '57014', // query_canceled, by statement_timeout
  '55P03', // lock_not_available, by lock_timeout
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a unix socket that is not there
]);

const LOST =
  /Connection terminated|Client was closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|not queryable/i;
