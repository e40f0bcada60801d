import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import * as v from 'valibot';
import { pause } from '../../lib/pause.js';
import { credentialsOf, type EventStoreCredentials, type Servers, tlsServersOf } from './address.js';
import { openConnection } from './client.js';

/** Thrown when the server refuses the administrator or cannot be reached for a minute; the message says which. */
export class AccountNotPrepared extends Error {
  override readonly name = 'AccountNotPrepared';
}

/** The group, and so the role, that may read the whole log. */
const GROUP = 'nfse';
const ADMINISTRATORS = '$admins';
const RETRY_FOR_MS = 60_000;
const PAUSE_MS = 500;
const ANSWER_MS = 5_000;

/**
 * Creates the user of `url` (with TLS) or sets its password, and lets it read the whole log, which only administrators may by default. Repeatable.
 * What a person made stays: other groups of the user, and who else may read the whole log.
 * Retries for `retryForMs`, because the server may have just started. Throws `AccountNotPrepared` and `AddressInvalid`.
 */
export const prepareAccount = async (
  url: string,
  adminPassword: string,
  retryForMs = RETRY_FOR_MS,
): Promise<'made' | 'renewed'> => {
  const { servers, caFile } = tlsServersOf(url);
  const ca = await readFile(caFile, 'utf8');
  const admin = { username: 'admin', password: adminPassword };
  const { username, password } = credentialsOf(url);
  const ask = (method: Method, path: string, body?: object) =>
    retryFor(() => firstAnswer(servers, ca, admin, { method, path, body }), retryForMs);
  const fullName = 'NFS-e issuance service';
  const user = `/users/${encodeURIComponent(username)}`;
  const { status } = await ask('POST', '/users/', { loginName: username, fullName, password, groups: [GROUP] });
  if (status === 409) await ask('POST', `${user}/command/reset-password`, { newPassword: password });
  // The server answers 201 also for a user that is there with this password, whatever groups it has.
  const there = detailsOf((await ask('GET', user)).text);
  if (!there.groups.some((group) => [GROUP, ADMINISTRATORS].includes(group)))
    await ask('PUT', user, { fullName: there.fullName, groups: [...there.groups, GROUP] });
  await letReadAll(adminUrl(url, admin));
  return status === 409 ? 'renewed' : 'made';
};

/** A person may make a user without a full name and without groups. */
const User = v.object({
  data: v.object({ fullName: v.nullish(v.string(), ''), groups: v.nullish(v.array(v.string()), []) }),
});

const detailsOf = (text: string): v.InferOutput<typeof User>['data'] => {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), User), text);
  if (!read.success) throw new AccountNotPrepared('EventStoreDB answers without the groups of the user');
  return read.output.data;
};

const adminUrl = (url: string, { username, password }: EventStoreCredentials): string =>
  url.replace(/\/\/[^@]*@/, () => `//${username}:${encodeURIComponent(password)}@`);

type Server = { host: string; port: string; ca: string };
type Method = 'GET' | 'POST' | 'PUT';
type Call = { method: Method; path: string; body: object | undefined };
/** Status 0 when no answer came. */
type Answer = { status: number; text: string };

const NO_ANSWER: Answer = { status: 0, text: '' };

/** Of the nodes in turn; any node of a cluster takes a request for the leader. */
const firstAnswer = async (
  servers: Servers['servers'],
  ca: string,
  admin: EventStoreCredentials,
  call: Call,
): Promise<Answer> => {
  for (const { host, port } of servers) {
    const answer = await answerOf({ host, port, ca }, admin, call);
    if (answer.status !== 0) return answer;
  }
  return NO_ANSWER;
};

const answerOf = (server: Server, admin: EventStoreCredentials, { method, path, body }: Call): Promise<Answer> =>
  new Promise((resolve) => {
    const sent = body === undefined ? '' : JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) };
    const auth = `${admin.username}:${admin.password}`;
    const call = request({ ...server, path, method, headers, auth, timeout: ANSWER_MS }, (response) => {
      const status = response.statusCode ?? 0;
      textOf(response).then(
        (text) => resolve({ status, text }),
        () => resolve(NO_ANSWER),
      );
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(NO_ANSWER));
    call.end(sent);
  });

/** A server creates its administrator a moment after it begins to answer. */
const retryFor = async (ask: () => Promise<Answer>, retryForMs: number): Promise<Answer> => {
  const until = performance.now() + retryForMs;
  for (;;) {
    const answer = await ask();
    if ((answer.status >= 200 && answer.status < 300) || answer.status === 409) return answer;
    if (performance.now() > until) throw new AccountNotPrepared(reasonOf(answer.status));
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
    const acl = typeof metadata?.acl === 'object' ? metadata.acl : {};
    const readers = [acl.readRoles ?? ADMINISTRATORS].flat();
    if (readers.includes(GROUP)) return;
    await client.setStreamMetadata(
      '$all',
      { ...metadata, acl: { ...acl, readRoles: [...readers, GROUP] } },
      { credentials },
    );
  } finally {
    await close();
  }
};
