import { chmodSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { ServerUnproven, sqlFault } from '../../../src/adapters/sql/errors.js';
import { openPool } from '../../../src/adapters/sql/pool.js';
import { openDatabaseLine } from '../../support/database-line.js';
import { authentication, BACKEND, type FakePostgres, startFakePostgres } from '../../support/fake-postgres.js';
import { openOn } from '../../support/harness/open-engines.js';
import { startOwnPostgres } from '../../support/own-postgres.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';
import { embeddedPostgres } from '../../support/postgres-programs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SECRET = 'not-for-strangers';
const STATEMENT = `select 'customer-of-ours' as n`;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const fake = async (...answers: Parameters<typeof startFakePostgres>[0]): Promise<FakePostgres> => {
  const server = await startFakePostgres(answers);
  closing.push(() => server.close());
  return server;
};

/** The rows, or the error. */
const ask = async (connectionString: string): Promise<unknown> => {
  const pool = openPool({ connectionString, max: 1, applicationName: 'test' });
  return await pool
    .query(STATEMENT)
    .then(
      ({ rows }) => rows,
      (error: unknown) => error,
    )
    .finally(() => pool.end());
};

const of = ({ port }: FakePostgres): string => `postgres://nfse:${SECRET}@127.0.0.1:${port}/nfse`;
const demanding = (server: FakePostgres): string => `${of(server)}?require_auth=scram-sha-256`;

const letIn = Buffer.concat([authentication(0), BACKEND.ready]);
const offer = authentication(10, 'SCRAM-SHA-256\0\0');
const nonceIn = (text: string): string => /r=([^,]+)/.exec(text)?.[1] ?? '';
const challenge = (text: string): Buffer => authentication(11, `r=${nonceIn(text)}more,s=c2FsdA==,i=1`);
const signature = authentication(12, `v=${Buffer.alloc(32, 1).toString('base64')}`);
const rows = [letIn, Buffer.concat([BACKEND.row, BACKEND.ready]), Buffer.concat([BACKEND.row, BACKEND.ready])];

it.each([
  ['asks for the password in clear', 'PASSWORD_ASKED_IN_CLEAR', [authentication(3)]],
  ['asks for the password as MD5', 'PASSWORD_ASKED_AS_MD5', [authentication(5, 'salt')]],
  ['asks in clear amid the exchange', 'PASSWORD_ASKED_IN_CLEAR', [offer, authentication(3)]],
  ['lets everybody in', 'NO_PROOF_OF_PASSWORD', rows],
  ['is ready without a word', 'NO_PROOF_OF_PASSWORD', [BACKEND.ready, ...rows]],
  ['lets everybody in after the offer', 'NO_PROOF_OF_PASSWORD', [offer, ...rows]],
  ['lets everybody in before its signature', 'NO_PROOF_OF_PASSWORD', [offer, challenge, ...rows]],
  ['gives its signature before the challenge', 'NO_PROOF_OF_PASSWORD', [offer, signature, ...rows]],
])('a server that %s gets neither password nor statement, and no row of it is read', async (_what, code, answers) => {
  const server = await fake(...answers);
  const error = await ask(demanding(server));
  expect(error).toBeInstanceOf(ServerUnproven);
  expect([sqlFault(error), (error as ServerUnproven).code]).toEqual(['unproven', code]);
  expect(server.received()).not.toContain(SECRET);
  expect(server.received()).not.toContain('md5');
  expect(server.received()).not.toContain('customer-of-ours');
  await expect.poll(() => server.open()).toBe(0);
});

it.each([
  ['a wrong signature', 'refused', [offer, challenge, Buffer.concat([signature, letIn]), ...rows]],
  ['a refusal', 'refused', [Buffer.concat([BACKEND.error, letIn]), ...rows]],
])('a server that lets everybody in behind %s gets no statement', async (_what, fault, answers) => {
  const server = await fake(...answers);
  expect(sqlFault(await ask(of(server)))).toBe(fault);
  await expect.poll(() => server.open()).toBe(0);
  expect(server.received()).not.toContain('customer-of-ours');
});

it('a start says in one line what the server lacks', async () => {
  const server = await fake(authentication(3));
  expect(await openOn(of(server))).toEqual({
    exit: 3,
    line: expect.stringMatching(/^the server of the database does not prove .*pg_hba.* \(PASSWORD_ASKED_IN_CLEAR\)$/),
  });
  expect(server.received()).not.toContain(SECRET);
});

it.each([
  ['asks for the password in clear', 'PASSWORD_ASKED_IN_CLEAR', [authentication(3)]],
  ['asks for the password as MD5', 'PASSWORD_ASKED_AS_MD5', [authentication(5, 'salt')]],
  ['lets everybody in after the offer', 'NO_PROOF_OF_PASSWORD', [offer, ...rows]],
])(
  'also of an address that does not demand the proof, a server that %s gets no password',
  async (_what, code, answers) => {
    const server = await fake(...answers);
    expect(await ask(of(server))).toMatchObject({ code });
    expect(server.received()).not.toContain(SECRET);
    expect(server.received()).not.toContain('customer-of-ours');
  },
);

it('a server that asks for nothing serves an address that does not demand the proof, without the password', async () => {
  const server = await fake(...rows);
  expect(await ask(of(server))).toEqual([{ n: '1' }]);
  expect(server.received()).not.toContain(SECRET);
});

describeWithPostgres('a server that knows the password', () => {
  it('is not given the password when the line asks for it later', async () => {
    const database = await freshDatabase();
    closing.push(() => database.close());
    let asked = 0;
    const line = await openDatabaseLine(database.connectionString, (answer) => {
      if (!answer.subarray(-6).equals(BACKEND.ready)) return answer;
      asked += 1;
      return Buffer.concat([answer, authentication(3), authentication(5, 'salt'), offer]);
    });
    closing.push(() => line.close());
    const pool = openPool({ connectionString: line.connectionString, max: 1, applicationName: 'test' });
    closing.push(() => pool.end());
    const session = async () => (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
    const first = await session();
    // The server ends a session at a password that it did not ask for.
    expect(await session()).toBe(first);
    expect(asked).toBeGreaterThan(1);
  });

  it('may let in by the user of the system on a unix socket, whatever the address holds', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o777);
    const server = await startOwnPostgres(await embeddedPostgres(), { unix_socket_directories: folder });
    closing.push(() => server.close());
    const { port, username } = new URL(server.url);
    const host = encodeURIComponent(folder);
    expect(await ask(`postgres://${username}:${SECRET}@${host}:${port}/postgres`)).toEqual([{ n: 'customer-of-ours' }]);
  });
});
