import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { pause } from '../../lib/pause.js';
import { credentialsOf, type EventStoreCredentials, tlsServerOf } from './address.js';
import { openConnection } from './client.js';

/** Thrown when the server refuses the administrator or cannot be reached for a minute; the message says which. */
export class AccountNotPrepared extends Error {
  override readonly name = 'AccountNotPrepared';
}

/** The group, and so the role, that may read the whole log. */
const GROUP = 'nfse';
const READERS = ['$admins', GROUP];
const RETRY_FOR_MS = 60_000;
const PAUSE_MS = 500;
const ANSWER_MS = 5_000;

/**
 * Creates the user of `url` (with TLS) or sets its password, and lets it read the whole log, which only administrators may by default. Repeatable.
 * Retries for `retryForMs`, because the server may have just started. Throws `AccountNotPrepared` and `AddressInvalid`.
 */
export const prepareAccount = async (
  url: string,
  adminPassword: string,
  retryForMs = RETRY_FOR_MS,
): Promise<'made' | 'renewed'> => {
  const { host, port, caFile } = tlsServerOf(url);
  const server = { host, port, ca: await readFile(caFile, 'utf8') };
  const admin = { username: 'admin', password: adminPassword };
  const { username, password } = credentialsOf(url);
  const ask = (path: string, body: object) => retryFor(() => post(server, admin, path, body), retryForMs);
  const fullName = 'NFS-e issuance service';
  const created = await ask('/users/', { loginName: username, fullName, password, groups: [GROUP] });
  if (created === 409)
    await ask(`/users/${encodeURIComponent(username)}/command/reset-password`, { newPassword: password });
  await letReadAll(adminUrl(url, admin));
  return created === 409 ? 'renewed' : 'made';
};

const adminUrl = (url: string, { username, password }: EventStoreCredentials): string =>
  url.replace(/\/\/[^@]*@/, () => `//${username}:${encodeURIComponent(password)}@`);

type Server = { host: string; port: string; ca: string };

/** Status of the answer; 0 when no answer came. */
const post = (server: Server, admin: EventStoreCredentials, path: string, body: object): Promise<number> =>
  new Promise((resolve) => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const auth = `${admin.username}:${admin.password}`;
    const call = request({ ...server, path, method: 'POST', headers, auth, timeout: ANSWER_MS }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(0));
    call.end(text);
  });

/** A server creates its administrator a moment after it begins to answer. */
const retryFor = async (ask: () => Promise<number>, retryForMs: number): Promise<number> => {
  const until = performance.now() + retryForMs;
  for (;;) {
    const status = await ask();
    if ((status >= 200 && status < 300) || status === 409) return status;
    if (performance.now() > until) throw new AccountNotPrepared(reasonOf(status));
    await pause(PAUSE_MS);
  }
};

const reasonOf = (status: number): string => {
  if (status === 0) return 'EventStoreDB cannot be reached, or its certificate is not of the CA in tlsCAFile';
  if (status === 401 || status === 403) return 'EventStoreDB refuses the administrator: is this its password?';
  return `EventStoreDB answers ${status}`;
};

const letReadAll = async (url: string): Promise<void> => {
  const { client, credentials, close } = openConnection(url);
  try {
    const { metadata } = await client.getStreamMetadata('$all', { credentials });
    if (JSON.stringify(metadata?.acl?.readRoles) === JSON.stringify(READERS)) return;
    await client.setStreamMetadata('$all', { ...metadata, acl: { readRoles: READERS } }, { credentials });
  } finally {
    await close();
  }
};
