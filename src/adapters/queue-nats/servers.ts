import type { ConnectionOptions } from 'nats';
import { AddressInvalid, type Transport } from '../../ports/engine-address.js';

type NatsServers = Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls' | 'ignoreClusterUpdates'>;

const DEFAULT_PORT = '4222';

/**
 * Reads `nats://user:password@host:4222`, `nats://token@host` or `tls://host`, several separated by commas. The client has one identity for all its
 * servers, so the named identities must be equal. Throws `AddressInvalid`.
 */
export const readServers = (text: string): NatsServers => {
  const urls = text.split(',').map(readServer);
  const named = urls.filter(({ username }) => username !== '');
  const [first] = named;
  if (first !== undefined && named.some((url) => url.username !== first.username || url.password !== first.password)) {
    throw new AddressInvalid('the NATS servers must share one user and password');
  }
  return {
    servers: urls.map((url) => `${url.hostname}:${url.port === '' ? DEFAULT_PORT : url.port}`),
    ...(first === undefined ? {} : identityOf(first)),
    // A server names other servers, which get the password too. Without TLS no certificate vouches for them (ADR 34).
    ...(urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : { ignoreClusterUpdates: true }),
  };
};

/** Without a `tls://` address a server may still ask for TLS, but an attacker on the network can suppress that. */
export const natsTransport = (text: string): Transport => ({
  hosts: text.split(',').map((server, index) => readServer(server, index).hostname),
  tls: readServers(text).tls === undefined ? 'none' : 'verified',
});

const readServer = (text: string, index: number): URL => {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url === undefined || url.hostname === '' || !(url.protocol === 'nats:' || url.protocol === 'tls:')) {
    throw new AddressInvalid(`NATS server ${index + 1} is not an address such as nats://host:4222 or tls://host:4222`);
  }
  return url;
};

const identityOf = ({ username, password }: URL): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> => {
  try {
    const user = decodeURIComponent(username);
    return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
  } catch {
    throw new AddressInvalid('user and password of a NATS server must be percent-encoded');
  }
};
