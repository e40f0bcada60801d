import { readFileSync } from 'node:fs';
// Only this part of the driver: the whole takes 60 ms, and help texts read the configuration too.
import ConnectionParameters from 'pg/lib/connection-parameters';
import { AddressInvalid, type Transport } from '../../ports/engine-address.js';

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey'] as const;

/** What the driver makes of each `sslmode`: all modes with TLS but `no-verify` verify the certificate and the host name. */
const TLS_MODES: Readonly<Record<string, string>> = {
  disable: 'disable',
  prefer: 'verify-full',
  require: 'verify-full',
  'verify-ca': 'verify-full',
  'verify-full': 'verify-full',
  'no-verify': 'no-verify',
};

/** What a pool sets itself: processes find each other by the name of their sessions, and the time limits are the operator's. */
const SET_BY_POOLS = [
  'application_name',
  'statement_timeout',
  'lock_timeout',
  'query_timeout',
  'idle_in_transaction_session_timeout',
] as const;

/** Parameters of an address that `readDatabaseUrl` leaves out; empty for text that is no address. */
export const ignoredParameters = (text: string): readonly string[] => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return SET_BY_POOLS.filter((name) => url?.searchParams.has(name));
};

/**
 * The address for the driver, checked for faults that the driver would report at the first connection or never. Throws `AddressInvalid`. The
 * driver takes one host, and lets the address win over what a pool sets. Its next major version weakens `require` and `verify-ca`; here both stay
 * `verify-full`.
 */
export const readDatabaseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const hosts = `${url?.host}${url?.searchParams.get('host') ?? ''}`;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol) || hosts.includes(',')) {
    throw new AddressInvalid(
      'expected one postgres://user:password@host:port/database, user and password percent-encoded (/ is %2F, # is %23, ? is %3F), with a socket %2Fits%2Ffolder as the host; use a proxy or a DNS name before several servers',
    );
  }
  const { searchParams } = url;
  for (const name of TLS_FILES) checkFile(name, searchParams.get(name));
  const ignored = ignoredParameters(text);
  for (const name of ignored) searchParams.delete(name);
  const wanted = searchParams.get('sslmode');
  if (wanted === null || searchParams.has('uselibpqcompat')) return ignored.length === 0 ? text : url.href;
  const mode = TLS_MODES[wanted];
  if (mode === undefined) throw new AddressInvalid(`sslmode must be one of ${Object.keys(TLS_MODES).join(', ')}`);
  searchParams.set('sslmode', mode);
  return url.href;
};

const checkFile = (name: string, file: string | null): void => {
  try {
    if (file !== null) readFileSync(file);
  } catch {
    throw new AddressInvalid(`${name} names a file that cannot be read`);
  }
};

/**
 * How the driver connects to an address from `readDatabaseUrl`, its own variables (PGHOST, PGSSLMODE) included. The driver itself is asked, because
 * it reads `sslmode` in its own way. It never falls back to plain text where TLS was asked for.
 */
export const databaseTransport = (url: string): Transport => {
  const { host = '', ssl } = new ConnectionParameters(url);
  const hosts = host.startsWith('/') ? [] : [host];
  if (ssl === false || ssl === undefined) return { hosts, tls: 'none' };
  const { rejectUnauthorized, checkServerIdentity } = ssl === true ? {} : ssl;
  return { hosts, tls: rejectUnauthorized === false || checkServerIdentity !== undefined ? 'unverified' : 'verified' };
};

/** Server and database of an address from `readDatabaseUrl`, as the driver takes them: never its user or password. */
export const databasePlace = (url: string): string => {
  const { host, port, database } = new ConnectionParameters(url);
  return `${host}:${port}/${database ?? ''}`;
};
