import { AddressInvalid, type Transport } from '../../ports/engine-address.js';
export type EventStoreCredentials = { username: string; password: string };

/** Without TLS the client ignores the credentials, but only with credentials does it append outside its batch path (ADR 12). */
const NO_CREDENTIALS: EventStoreCredentials = { username: 'nobody', password: 'nobody' };

/** Accepted settings. For any other, and for `tlsVerifyCert=false`, the client prints the whole address with its password. */
const SETTINGS: readonly string[] = [
  'tls',
  'tlscafile',
  'tlsverifycert',
  'connectionname',
  'defaultdeadline',
  'throwonappendfailure',
  'keepaliveinterval',
  'keepalivetimeout',
  'nodepreference',
  'maxdiscoverattempts',
  'discoveryinterval',
  'gossiptimeout',
];

/**
 * Returns user and password of `esdb://user:password@host:2113[,host…]?tls=true&tlsCAFile=…` (or `esdb+discover://`). The client itself reads hosts
 * and settings. Throws `AddressInvalid`.
 */
export const credentialsOf = (url: string): EventStoreCredentials => {
  const match = /^esdb(?:\+discover)?:\/\/(?:([^:@/?]+):([^@]+)@)?[^@?]+(?:\?([^@]*))?$/.exec(url.trim());
  if (match === null) {
    throw new AddressInvalid('expected esdb://user:password@host:2113?tls=true, or without user for tls=false');
  }
  const [, username, password, query = ''] = match;
  const settings = settingsOf(query);
  if (username !== undefined && password !== undefined) {
    return { username: decoded(username), password: decoded(password) };
  }
  if (settings.get('tls') === 'false') return NO_CREDENTIALS;
  throw new AddressInvalid('a server with TLS needs a user: esdb://user:password@host:2113?tls=true');
};

/** TLS is the client's default, and the client always verifies. `url` must be an address that `credentialsOf` accepts. */
export const eventStoreTransport = (url: string): Transport => {
  const [, servers = '', query = ''] = /^[a-z+]+:\/\/(?:[^@/?]*@)?([^?]+)(?:\?(.*))?$/.exec(url.trim()) ?? [];
  const hosts = servers
    .replace(/\/.*$/, '')
    .split(',')
    .map((server) => server.trim().replace(/:\d+$/, ''));
  return { hosts, tls: settingsOf(query).get('tls') === 'false' ? 'none' : 'verified' };
};

const settingsOf = (query: string): ReadonlyMap<string, string> => {
  const settings = new Map<string, string>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', value = ''] = pair.split('=');
    const flat = name.toLowerCase().replace(/[_-]/g, '');
    if (!SETTINGS.includes(flat)) throw new AddressInvalid('the address has a setting that is not supported');
    if (flat === 'tlsverifycert' && value !== 'true') {
      throw new AddressInvalid('the client always checks certificates: name the CA by tlsCAFile');
    }
    settings.set(flat, value);
  }
  return settings;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AddressInvalid('user and password must be percent-encoded', { cause });
  }
};
