import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findBinaries } from '../../src/adapters/embedded-postgres/binaries.js';
import {
  OWNER,
  readConnection,
  readEmbeddedAddresses,
  SERVICE,
  SUPERUSER,
  superuserAddress,
  writeConnection,
} from '../../src/adapters/embedded-postgres/connection-file.js';
import { clusterFolder } from '../../src/adapters/embedded-postgres/data-dir.js';
import { chooseOsUser } from '../../src/adapters/embedded-postgres/os-user.js';
import { launchServer } from '../../src/adapters/embedded-postgres/server-process.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { excessRights } from '../../src/adapters/sql/roles.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type EmbeddedAt, type EmbeddedHarness, openEmbeddedHarness } from '../support/harness/embedded-service.js';

type Row = Readonly<Record<string, unknown>>;

/** Runs a statement in the database of a data folder on which nothing runs, without what a start of the product does to it. */
const asSuperuserOf = async (dataDir: string, statement: string): Promise<readonly Row[]> => {
  const user = chooseOsUser();
  const { postgres } = await findBinaries(user);
  const port = await freePort();
  const server = await launchServer({
    postgres,
    cluster: clusterFolder(dataDir),
    port,
    user,
    socket: undefined,
    settings: {},
    log: () => undefined,
  });
  const stored = await readConnection(dataDir);
  if (stored === undefined) throw new Error('the folder has no connection file');
  const pool = openPool({ connectionString: superuserAddress({ ...stored, port }), max: 1, applicationName: 'test' });
  try {
    return (await pool.query<Row>(statement)).rows;
  } finally {
    await pool.end();
    server.signal('SIGINT');
    await server.exited;
  }
};

/**
 * Puts a data folder on which nothing runs into the state of the versions whose one user was the superuser: everything is that
 * user's, there are no other roles, no step from 35 on has run, and the connection file holds one password.
 */
const makeOlder = async (dataDir: string): Promise<void> => {
  await asSuperuserOf(dataDir, TO_OLDER);
  const stored = await readConnection(dataDir);
  if (stored !== undefined) await writeConnection(dataDir, { port: stored.port, password: stored.password });
};

const TO_OLDER = `
reassign owned by ${OWNER}, ${SERVICE} to ${SUPERUSER};
drop owned by ${OWNER}, ${SERVICE};
drop role ${OWNER}, ${SERVICE};
drop function event_log_cut, projection_schema_make, projection_schema_drop;
alter function event_log_append security invoker reset search_path;
grant execute on function event_log_append to public;
grant temporary on database ${SUPERUSER} to public;
delete from schema_migrations where id >= 35`;

const bodyOf = (amount: number) => ({
  amount_in_cents: amount,
  description: `Pedido ${amount}`,
  reference: `pedido-${amount}`,
});

const issue = async (at: EmbeddedAt, amount: number): Promise<string> => {
  const { status, body } = await at.ask('/v1/nfse', bodyOf(amount));
  expect(status, JSON.stringify(body)).toBe(202);
  const id = String(body.id);
  await eventually(
    async () => (await at.ask(`/v1/nfse/${id}`)).body,
    (invoice) => invoice.status === 'issued',
  );
  return id;
};

describe('a data folder of a version whose service was a superuser', () => {
  let harness: EmbeddedHarness;
  let known: string;
  beforeEach(async () => {
    harness = await openEmbeddedHarness();
    const before = await harness.start();
    await harness.register(before);
    known = await issue(before, 1_001);
    await before.stop();
    await makeOlder(harness.folder);
  });
  afterEach(() => harness.close());

  /** Nothing is lost, open work continues, and the service's role has no more rights than it needs. */
  const isTakenOver = async (): Promise<void> => {
    const after = await harness.start();
    expect((await after.ask(`/v1/nfse/${known}`)).body).toMatchObject({ id: known, status: 'issued' });
    expect((await after.ask('/v1/nfse', bodyOf(1_001))).status).toBe(409);
    await issue(after, 1_002);
    expect(await after.ledger()).toHaveLength(2);
    expect(await excessRights(after.service.engines.pool)).toEqual([]);
    const { out } = await after.operate('doctor');
    expect(out).toMatch(/^ok +database rights/m);
    expect(out).toContain(` in ${harness.folder}\n`);
    await after.stop();
  };

  it('is taken over at the next start, and the passwords stay between the owner of the folder and it', async () => {
    expect(await readEmbeddedAddresses(harness.folder)).toBe('one_user');
    await isTakenOver();
    const file = join(harness.folder, 'postgres-connection.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const passwords = await readConnection(harness.folder);
    expect(new Set(Object.values(passwords ?? {})).size).toBe(4);
    await isTakenOverAgain(await readFile(file, 'utf8'));
  });

  const isTakenOverAgain = async (before: string): Promise<void> => {
    const again = await harness.start();
    expect((await again.ask(`/v1/nfse/${known}`)).body.status).toBe('issued');
    await again.stop();
    const portless = (text: string): string => text.replace(/"port":\d+/, '');
    const after = await readFile(join(harness.folder, 'postgres-connection.json'), 'utf8');
    expect(portless(after)).toBe(portless(before));
  };

  it('is taken over after a start that was cut short when it had noted the passwords', async () => {
    const connection = await readConnection(harness.folder);
    await writeConnection(harness.folder, {
      port: 0,
      password: '',
      ...connection,
      ownerPassword: 'a',
      servicePassword: 'b',
    });
    await isTakenOver();
  });

  it('is taken over after a start that was cut short when it had made a role, with another password', async () => {
    await asSuperuserOf(harness.folder, `create role ${OWNER} superuser login password 'forgotten'`);
    await isTakenOver();
  });

  it('is taken over where a part belongs to the new owner already', async () => {
    await asSuperuserOf(
      harness.folder,
      `create role ${OWNER}; alter table event_log owner to ${OWNER}; alter schema read owner to ${OWNER}`,
    );
    await isTakenOver();
  });

  it('leaves alone what an operator has put elsewhere', async () => {
    await asSuperuserOf(harness.folder, 'create schema mine; create table mine.notes as select 1 as n');
    await isTakenOver();
    const [row] = await asSuperuserOf(
      harness.folder,
      `select pg_get_userbyid(relowner) as owner from pg_class where oid = 'mine.notes'::regclass`,
    );
    expect(row).toEqual({ owner: SUPERUSER });
  });
});
