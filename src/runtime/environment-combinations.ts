import { credentialsOf, EventStoreUrlInvalid } from '../adapters/eventlog-eventstoredb/address.js';
import { NatsServersInvalid, readServers } from '../adapters/queue-nats/servers.js';
import { DatabaseUrlInvalid, readDatabaseUrl } from '../adapters/sql/address.js';
import { SPEC_WINDOWS } from './environment.js';

/** A command beside the service must find room too below the embedded server's 60 connections. */
const EMBEDDED_POOL_SIZE = 30;

/** What one variable alone cannot tell; checked on the raw values, so that a bad variable hides no other. */
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
  if (!isLoopback(values.OPS_HOST ?? '127.0.0.1') && values.OPERATOR_TOKEN_FILE === undefined) {
    problems.push('OPERATOR_TOKEN_FILE is required when OPS_HOST is not a loopback address');
  }
  if (values.DATABASE_URL === undefined && Number(values.DATABASE_POOL_SIZE ?? 0) > EMBEDDED_POOL_SIZE) {
    problems.push(`DATABASE_POOL_SIZE must be at most ${EMBEDDED_POOL_SIZE} without DATABASE_URL`);
  }
  if (Number(values.DATABASE_LOCK_TIMEOUT_S ?? 0) > Number(values.DATABASE_STATEMENT_TIMEOUT_S ?? 15)) {
    problems.push('DATABASE_LOCK_TIMEOUT_S must not be above DATABASE_STATEMENT_TIMEOUT_S, which ends the wait before');
  }
  if (values.TAX_REGISTRY_URL !== undefined && !isSafeOnItsWay(values.TAX_REGISTRY_URL)) {
    problems.push('TAX_REGISTRY_URL must be a https: address, or one of this machine: it names customers in documents');
  }
  problems.push(...addressProblems('DATABASE_URL', values, readDatabaseUrl, DatabaseUrlInvalid));
  problems.push(...addressProblems('DATABASE_OWNER_URL', values, readDatabaseUrl, DatabaseUrlInvalid));
  problems.push(...addressProblems('EVENTSTORE_URL', values, credentialsOf, EventStoreUrlInvalid));
  problems.push(...addressProblems('NATS_URL', values, readServers, NatsServersInvalid));
  return problems;
};

/** What is no address is told by its own variable's check. */
const isSafeOnItsWay = (address: string): boolean => {
  if (!URL.canParse(address)) return true;
  const { protocol, hostname } = new URL(address);
  return protocol !== 'http:' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
};

/** An engine's address as its adapter reads it; what is wrong is said without the address, which may hold a password. */
const addressProblems = (
  name: string,
  values: Readonly<Record<string, string>>,
  read: (address: string) => unknown,
  Invalid: new () => Error,
): readonly string[] => {
  const address = values[name];
  if (address === undefined) return [];
  try {
    read(address);
    return [];
  } catch (error) {
    if (error instanceof Invalid) return [`${name}: ${error.message}`];
    throw error;
  }
};

/** Only programs of this machine reach a listener on it. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
