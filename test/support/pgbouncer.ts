import { spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { chooseOsUser } from '../../src/adapters/embedded-postgres/os-user.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** PgBouncer before a database, with the settings that it comes with but for its mode and these lines. */
export type PgBouncer = { connectionString: string; close(): Promise<void> };

export const startPgBouncer = async (
  target: string,
  mode: 'session' | 'transaction',
  lines = '',
): Promise<PgBouncer> => {
  const url = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), 'nfse-pgbouncer-'));
  const [user, port] = [chooseOsUser(), await freePort()];
  const [users, settings] = [join(folder, 'users.txt'), join(folder, 'pgbouncer.ini')];
  await writeFile(users, `"${url.username}" "${url.password}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${url.hostname} port=${url.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${mode}
${lines}
`,
  );
  for (const path of [folder, users, settings]) {
    if (user !== undefined) await chown(path, user.uid, user.gid);
    await chmod(path, 0o700);
  }
  const child = spawn('pgbouncer', [settings], {
    stdio: 'ignore',
    cwd: '/',
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  url.host = `127.0.0.1:${port}`;
  const connectionString = url.href;
  const isUp = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString });
    client.on('error', () => undefined);
    return await client.connect().then(
      () => client.end().then(() => true),
      () => false,
    );
  };
  await eventually(isUp, Boolean);
  return {
    connectionString,
    close: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
