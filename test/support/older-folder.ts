import { findBinaries } from '../../src/adapters/embedded-postgres/binaries.js';
import { clusterFolder } from '../../src/adapters/embedded-postgres/cluster.js';
import {
  OWNER,
  readConnection,
  SERVICE,
  SUPERUSER,
  superuserAddress,
  writeConnection,
} from '../../src/adapters/embedded-postgres/connection-file.js';
import { chooseOsUser } from '../../src/adapters/embedded-postgres/os-user.js';
import { launchServer } from '../../src/adapters/embedded-postgres/server-process.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { freePort } from './free-port.js';

type Row = Readonly<Record<string, unknown>>;

/** Runs a statement in the database of a data folder on which nothing runs, without what a start of the product does to it. */
export const asSuperuserOf = async (dataDir: string, statement: string): Promise<readonly Row[]> => {
  const user = chooseOsUser();
  const { postgres } = await findBinaries(user);
  const port = await freePort();
  const server = await launchServer({
    ...{ postgres, cluster: clusterFolder(dataDir), port, user, settings: {}, log: () => undefined },
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
export const makeOlder = async (dataDir: string): Promise<void> => {
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
