import { eventStoreTransport } from '../adapters/eventlog-eventstoredb/address.js';
import { natsTransport } from '../adapters/queue-nats/servers.js';
import { databaseTransport } from '../adapters/sql/address.js';
import type { Check } from '../cli/session.js';
import type { Config } from './config.js';
import { isLoopback } from './environment-combinations.js';

type Transport = { hosts: readonly string[]; tls: 'none' | 'unverified' | 'verified' };

export type EngineAddresses = Pick<Config, 'databaseUrl' | 'databaseOwnerUrl' | 'eventStoreUrl' | 'natsUrl'>;

type Way = { variable: string; tls: 'none' | 'unverified'; cure: string };

/** The ways to engines beyond this machine on which somebody may read along, or stand in for the engine. */
export const openWays = (addresses: EngineAddresses): readonly Way[] => [
  ...way('DATABASE_URL', addresses.databaseUrl, databaseTransport, 'sslmode=verify-full and sslrootcert'),
  ...way('DATABASE_OWNER_URL', addresses.databaseOwnerUrl, databaseTransport, 'sslmode=verify-full and sslrootcert'),
  ...way('EVENTSTORE_URL', addresses.eventStoreUrl, eventStoreTransport, 'tls=true'),
  ...way('NATS_URL', addresses.natsUrl, natsTransport, 'tls://'),
];

const way = (
  variable: string,
  address: string | undefined,
  transportOf: (address: string) => Transport,
  cure: string,
): readonly Way[] => {
  if (address === undefined) return [];
  const { hosts, tls } = transportOf(address);
  return tls === 'verified' || hosts.every(isLocal) ? [] : [{ variable, tls, cure }];
};

const isLocal = (host: string): boolean => isLoopback(host.replace(/^\[(.*)\]$/, '$1'));

/** Of an environment whose addresses can be read; what is only unverified is the doctor's to say. */
export const plaintextProblems = (addresses: EngineAddresses): readonly string[] =>
  openWays(addresses).flatMap(({ variable, tls, cure }) =>
    tls === 'none'
      ? [`${variable} leads beyond this machine without TLS: use ${cure}, or allow it with ALLOW_PLAINTEXT_ENGINES=1`]
      : [],
  );

/** Plain text that ALLOW_PLAINTEXT_ENGINES has let through is told and is no fault; TLS to anybody who answers is one. */
export const transportCheck = (addresses: EngineAddresses): Check => {
  const ways = openWays(addresses);
  const name = 'transport';
  if (ways.length === 0)
    return { name, ok: true, detail: 'every engine beyond this machine is reached by verified TLS' };
  const detail = ways
    .map(({ variable, tls }) =>
      tls === 'none' ? `${variable} has no TLS (ALLOW_PLAINTEXT_ENGINES)` : `${variable} has TLS without verification`,
    )
    .join('; ');
  const cure = ways.map((one) => `${one.variable}: ${one.cure}`).join('; ');
  return { name, ok: ways.every(({ tls }) => tls === 'none'), detail, cure };
};
