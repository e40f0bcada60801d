import { credentialsOf, eventStoreTransport } from '../../adapters/eventlog-eventstoredb/address.js';
import { natsTransport, readServers } from '../../adapters/queue-nats/servers.js';
import { databaseTransport, readDatabaseUrl } from '../../adapters/sql/address.js';
import { AddressInvalid, type Transport } from '../../ports/engine-address.js';
import { DEFAULTS, SPEC_WINDOWS } from './environment.js';

/** Leaves connections for a command beside the service, below the 60 of the embedded server. */
const EMBEDDED_POOL_SIZE = 30;

/** Problems that only several variables together show. Uses raw values, so that one bad variable hides no other problem. */
export const combinationProblems = (values: Readonly<Record<string, string>>): readonly string[] => {
  const problems: string[] = [];
  for (const [name, least] of Object.entries(SPEC_WINDOWS)) {
    if (values.ALLOW_SHORT_WINDOWS !== '1' && Number(values[name] ?? least) < least) {
      problems.push(`${name} must be at least ${least}; shorter windows need ALLOW_SHORT_WINDOWS=1 (rehearsal only)`);
    }
  }
  if (values.DATABASE_URL !== undefined && values.MASTER_KEY_FILE === undefined) {
    problems.push('MASTER_KEY_FILE is required with DATABASE_URL: 32 bytes in base64');
  }
  if (values.DATABASE_OWNER_URL !== undefined && values.DATABASE_URL === undefined) {
    problems.push('DATABASE_OWNER_URL needs DATABASE_URL, the address of the service in the same database');
  }
  if (!isLoopback(values.OPS_HOST ?? DEFAULTS.OPS_HOST) && values.OPERATOR_TOKEN_FILE === undefined) {
    problems.push('OPERATOR_TOKEN_FILE is required when OPS_HOST is not a loopback address');
  }
  if (values.DATABASE_URL === undefined && Number(values.DATABASE_POOL_SIZE ?? 0) > EMBEDDED_POOL_SIZE) {
    problems.push(`DATABASE_POOL_SIZE must be at most ${EMBEDDED_POOL_SIZE} without DATABASE_URL`);
  }
  const { DATABASE_STATEMENT_TIMEOUT_S: longest = DEFAULTS.DATABASE_STATEMENT_TIMEOUT_S } = values;
  if (Number(values.DATABASE_LOCK_TIMEOUT_S ?? 0) > Number(longest)) {
    problems.push('DATABASE_LOCK_TIMEOUT_S must not be above DATABASE_STATEMENT_TIMEOUT_S, which ends the wait before');
  }
  if (values.TAX_REGISTRY_URL !== undefined && !isSafeOnItsWay(values.TAX_REGISTRY_URL)) {
    problems.push('TAX_REGISTRY_URL must be a https: address, or one of this machine: it names customers in documents');
  }
  const unreadable = [
    ...addressProblems('DATABASE_URL', values, readDatabaseUrl),
    ...addressProblems('DATABASE_OWNER_URL', values, readDatabaseUrl),
    ...addressProblems('EVENTSTORE_URL', values, credentialsOf),
    ...addressProblems('NATS_URL', values, readServers),
  ];
  problems.push(...unreadable);
  if (unreadable.length === 0 && values.ALLOW_PLAINTEXT_ENGINES !== '1')
    problems.push(...plaintextProblems(engineAddresses(values)));
  return problems;
};

/** Text that is no address is reported by the check of the variable. */
const isSafeOnItsWay = (address: string): boolean => {
  if (!URL.canParse(address)) return true;
  const { protocol, hostname } = new URL(address);
  return protocol !== 'http:' || isLoopbackInUrl(hostname);
};

/** Reads an engine's address as its adapter does. Messages never contain the address, which may hold a password. */
const addressProblems = (
  name: string,
  values: Readonly<Record<string, string>>,
  read: (address: string) => unknown,
): readonly string[] => {
  const address = values[name];
  if (address === undefined) return [];
  try {
    read(address);
    return [];
  } catch (error) {
    if (error instanceof AddressInvalid) return [`${name}: ${error.message}`];
    throw error;
  }
};

/** Whether only programs of this machine can reach a listener on this host. */
export const isLoopback = (host: string): boolean => /^(?:localhost|::1|127\.\d+\.\d+\.\d+)$/.test(host);

/** The same for the host of a URL, in which IPv6 addresses are in brackets. */
export const isLoopbackInUrl = (host: string): boolean => isLoopback(host.replace(/^\[(.*)\]$/, '$1'));

/** The configured addresses of the engines; undefined for an engine that is part of this process or of the database. */
export type EngineAddresses = {
  databaseUrl: string | undefined;
  databaseOwnerUrl: string | undefined;
  eventStoreUrl: string | undefined;
  natsUrl: string | undefined;
};

type Unprotected = { variable: string; tls: 'none' | 'unverified'; cure: string };

/** Connections to engines on other machines on which a third party could read along or impersonate the engine. */
export const unprotectedConnections = (addresses: EngineAddresses): readonly Unprotected[] => [
  ...unprotected('DATABASE_URL', addresses.databaseUrl, databaseTransport, VERIFIED_DATABASE),
  ...unprotected('DATABASE_OWNER_URL', addresses.databaseOwnerUrl, databaseTransport, VERIFIED_DATABASE),
  ...unprotected('EVENTSTORE_URL', addresses.eventStoreUrl, eventStoreTransport, 'tls=true'),
  ...unprotected('NATS_URL', addresses.natsUrl, natsTransport, 'tls://'),
];

const VERIFIED_DATABASE = 'sslmode=verify-full and sslrootcert';

const unprotected = (
  variable: string,
  address: string | undefined,
  transportOf: (address: string) => Transport,
  cure: string,
): readonly Unprotected[] => {
  if (address === undefined) return [];
  const { hosts, tls } = transportOf(address);
  return tls === 'verified' || hosts.every(isLoopbackInUrl) ? [] : [{ variable, tls, cure }];
};

/** Problems of configured addresses without TLS. TLS without verification is only reported by the doctor. */
export const plaintextProblems = (addresses: EngineAddresses): readonly string[] =>
  unprotectedConnections(addresses).flatMap(({ variable, tls, cure }) =>
    tls === 'none'
      ? [`${variable} leads beyond this machine without TLS: use ${cure}, or allow it with ALLOW_PLAINTEXT_ENGINES=1`]
      : [],
  );

const engineAddresses = (values: Readonly<Record<string, string>>): EngineAddresses => ({
  databaseUrl: values.DATABASE_URL && readDatabaseUrl(values.DATABASE_URL),
  databaseOwnerUrl: values.DATABASE_OWNER_URL && readDatabaseUrl(values.DATABASE_OWNER_URL),
  eventStoreUrl: values.EVENTSTORE_URL,
  natsUrl: values.NATS_URL,
});
