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

/** The client takes no other spelling of their values. */
const SWITCHES: readonly string[] = ['tls', 'throwonappendfailure'];

/**
 * Returns user and password of `esdb://user:password@host:2113[,host…]?tls=true&tlsCAFile=…` (or `esdb+discover://`). The client itself reads hosts
 * and settings. Throws `AddressInvalid`.
 */
export const credentialsOf = (url: string): EventStoreCredentials => {
  const { username, password, settings } = partsOf(url);
  if (username !== undefined && password !== undefined) {
    return { username: decoded(username), password: decoded(password) };
  }
  if (settings.get('tls') === 'false') return NO_CREDENTIALS;
  throw new AddressInvalid('a server with TLS needs a user: esdb://user:password@host:2113?tls=true');
};

/** TLS is the client's default, and the client always verifies. Throws `AddressInvalid`. */
export const eventStoreTransport = (url: string): Transport => {
  const { servers, settings } = partsOf(url);
  return { hosts: servers.map(({ host }) => host), tls: settings.get('tls') === 'false' ? 'none' : 'verified' };
};

export type Servers = {
  /** With `esdb+discover://` the name that stands for all nodes. */
  servers: readonly { host: string; port: string }[];
  hasTls: boolean;
  /** Undefined: the authorities that Node knows. */
  caFile: string | undefined;
};

/** Where the servers of an address listen. Throws `AddressInvalid`. */
export const serversOf = (url: string): Servers => {
  const { servers, settings } = partsOf(url);
  const caFile = settings.get('tlscafile');
  return {
    servers: servers.map(({ host, port = DEFAULT_PORT }) => ({ host, port })),
    hasTls: settings.get('tls') !== 'false',
    caFile: caFile === undefined ? undefined : decoded(caFile),
  };
};

/** The servers of an address with TLS whose CA is named by `tlsCAFile`. Throws `AddressInvalid`. */
export const tlsServersOf = (url: string): Servers & { caFile: string } => {
  const found = serversOf(url);
  const { caFile } = found;
  if (found.servers.some(({ host }) => host.includes(':'))) {
    throw new AddressInvalid('a server is a name with a port: esdb://user:password@host:2113?tls=true');
  }
  if (!found.hasTls || caFile === undefined) {
    throw new AddressInvalid('a user is made over TLS only: esdb://user:password@host:2113?tls=true&tlsCAFile=…');
  }
  return { servers: found.servers, hasTls: true, caFile };
};

const DEFAULT_PORT = '2113';

type Parts = {
  /** As written, percent-encoded. */
  username: string | undefined;
  password: string | undefined;
  servers: readonly { host: string; port: string | undefined }[];
  /** By name in lower case, without `_` and `-`, as the client compares names. */
  settings: ReadonlyMap<string, string>;
};

const partsOf = (url: string): Parts => {
  const match = /^esdb(?:\+discover)?:\/\/(?:([^:@/?]+):([^@]+)@)?([^@?]+)(?:\?([^@]*))?$/.exec(url.trim());
  if (match === null) {
    throw new AddressInvalid('expected esdb://user:password@host:2113?tls=true, or without user for tls=false');
  }
  const [, username, password, servers = '', query = ''] = match;
  return {
    username,
    password,
    servers: servers.replace(/\/.*$/, '').split(',').map(serverOf),
    settings: settingsOf(query),
  };
};

const serverOf = (text: string): Parts['servers'][number] => {
  const [, host = '', port] = /^(.*?)(?::(\d+))?$/.exec(text.trim()) ?? [];
  return { host, port };
};

const settingsOf = (query: string): ReadonlyMap<string, string> => {
  const settings = new Map<string, string>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', ...rest] = pair.split('=');
    const value = rest.join('=');
    const flat = name.toLowerCase().replace(/[_-]/g, '');
    if (!SETTINGS.includes(flat)) throw new AddressInvalid('the address has a setting that is not supported');
    if (flat === 'tlsverifycert' && value !== 'true') {
      throw new AddressInvalid('the client always checks certificates: name the CA by tlsCAFile');
    }
    if (SWITCHES.includes(flat) && value !== 'true' && value !== 'false') {
      throw new AddressInvalid(`${name} must be true or false`);
    }
    settings.set(flat, value);
  }
  return settings;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AddressInvalid('user, password and tlsCAFile must be percent-encoded', { cause });
  }
};
