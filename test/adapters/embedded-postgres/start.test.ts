import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findBinaries } from '../../../src/adapters/embedded-postgres/binaries.js';
import { readEmbeddedAddresses } from '../../../src/adapters/embedded-postgres/connection-file.js';
import { lockDataDir } from '../../../src/adapters/embedded-postgres/data-dir.js';
import { EmbeddedPostgresError } from '../../../src/adapters/embedded-postgres/error.js';
import { discardRestored } from '../../../src/adapters/embedded-postgres/half-restored.js';
import { chooseOsUser } from '../../../src/adapters/embedded-postgres/os-user.js';
import { ownerAnswers } from '../../../src/adapters/embedded-postgres/owner-socket.js';
import { processIdentity } from '../../../src/adapters/embedded-postgres/server-processes.js';
import { startEmbeddedPostgres } from '../../../src/adapters/embedded-postgres/start.js';
import { compiledProgram } from '../../support/compiled.js';
import { freePort } from '../../support/free-port.js';
import { type LockedPostgres, startLockedPostgres } from '../../support/locked-postgres.js';
import { describeWithPostgres } from '../../support/postgres.js';

const LISTEN = "require('net').createServer().listen(process.argv[1], () => console.log('listens'))";

const ownerProgram = () => [process.execPath, compiledProgram('test/adapters/embedded-postgres/owner.ts')] as const;

describeWithPostgres('the embedded server', () => {
  let home: string;
  let dataDir: string;
  const running: LockedPostgres[] = [];

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'nfse-embedded-'));
    await chmod(home, 0o711);
    dataDir = join(home, 'data');
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.stop()));
    await rm(home, { recursive: true, force: true });
  });

  const serverSocket = (): string => join(dataDir, 'lock', 'server.sock');
  const start = async (options: { log?: (line: string) => void; whileStarting?: () => Promise<void> } = {}) => {
    const server = await startLockedPostgres({ dataDir, log: () => undefined, ...options });
    running.push(server);
    return server;
  };
  const stop = async (server: LockedPostgres) => {
    running.splice(running.indexOf(server), 1);
    await server.stop();
  };
  const ask = async (connectionString: string, sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString });
    client.on('error', () => undefined);
    await client.connect();
    return (await client.query(sql).finally(() => client.end())).rows;
  };
  type Server = { superuserConnectionString: string };
  const writeNote = (server: Server) =>
    ask(server.superuserConnectionString, `create table note (text text); insert into note values ('kept')`);
  const readNote = (server: Server) => ask(server.superuserConnectionString, 'select text from note');
  const kept = [{ text: 'kept' }];

  it('keeps the data through a restart, and ends cleanly', async () => {
    const first = await start();
    await writeNote(first);
    await stop(first);
    const lines: string[] = [];
    const second = await start({ log: (line) => lines.push(line) });
    expect(await readNote(second)).toEqual(kept);
    expect(lines.join('\n')).not.toContain('recovery');
  });

  it('is durable, checks pages, and lets nobody in without the password', async () => {
    const { connectionString } = await start();
    const settings = await ask(
      connectionString,
      `select name, setting from pg_settings where name in
       ('authentication_timeout', 'fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums', 'server_encoding') order by name`,
    );
    expect(settings.map((row) => Object.values(row as object).join('='))).toEqual([
      'authentication_timeout=15',
      'data_checksums=on',
      'fsync=on',
      'full_page_writes=on',
      'server_encoding=UTF8',
      'synchronous_commit=on',
    ]);
    expect(await readEmbeddedAddresses(dataDir)).toMatchObject({ service: connectionString });
    expect((await stat(join(dataDir, 'postgres-connection.json'))).mode & 0o777).toBe(0o600);
    const stranger = new URL(connectionString);
    stranger.password = 'guess';
    await expect(ask(stranger.href, 'select 1')).rejects.toThrow(/authentication failed/);
  });

  it('has no address until it listens, because the old port is free for every user of the machine', async () => {
    const addresses: unknown[] = [];
    const whileStarting = async () => void addresses.push(await readEmbeddedAddresses(dataDir));
    await stop(await start());
    expect(await readEmbeddedAddresses(dataDir)).toHaveProperty('service');
    const { connectionString } = await start({ whileStarting });
    expect(addresses).toEqual(['no_server']);
    expect(await readEmbeddedAddresses(dataDir)).toMatchObject({ service: connectionString });
  });

  it('is restarted on the same address when it is killed', async () => {
    const server = await start();
    await writeNote(server);
    const exits: unknown[] = [];
    server.onExit((exit) => exits.push(exit));
    const killed = server.pid();
    process.kill(killed, 'SIGKILL');
    await vi.waitUntil(() => server.pid() !== killed, { timeout: 120_000 });
    expect(exits).toEqual([{ code: null, signal: 'SIGKILL' }]);
    expect(await readNote(server)).toEqual(kept);
  });

  it('says why it does not start again, until it does', async () => {
    const server = await start();
    await writeNote(server);
    const failures: unknown[] = [];
    server.onFailedStart((error) => failures.push(error));
    const control = join(dataDir, 'postgres', 'global', 'pg_control');
    await rename(control, `${control}.away`);
    const killed = server.pid();
    process.kill(killed, 'SIGKILL');
    await vi.waitUntil(() => failures.length > 1, { timeout: 120_000 });
    await rename(`${control}.away`, control);
    await vi.waitUntil(() => server.pid() !== killed, { timeout: 120_000 });
    expect(failures[0]).toBeInstanceOf(EmbeddedPostgresError);
    expect(failures[0]).toHaveProperty('message', expect.stringMatching(/^PostgreSQL did not start: .*pg_control/));
    expect(await readNote(server)).toEqual(kept);
  });

  it.runIf(process.platform === 'linux')(
    'is restarted when its main process is killed and another of its processes is frozen',
    { timeout: 120_000 },
    async () => {
      const server = await start();
      const client = new pg.Client({ connectionString: server.superuserConnectionString });
      client.on('error', () => undefined);
      await client.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const frozen = rows[0]?.pid ?? 0;
      process.kill(frozen, 'SIGSTOP');
      const killed = server.pid();
      process.kill(killed, 'SIGKILL');
      await vi.waitUntil(() => server.pid() !== killed, { timeout: 120_000 });
      expect(processIdentity(frozen)).toBeUndefined();
      expect(await ask(server.connectionString, 'select 1 as n')).toEqual([{ n: 1 }]);
    },
  );

  it('is taken over, by way of a clean stop, from an owner that was killed', async () => {
    const [command, ...args] = ownerProgram();
    const owner = spawn(command, [...args, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(owner.stdout, 'data');
    const orphan: { pid: number } & Server = JSON.parse(String(line));
    await writeNote(orphan);
    await expect(start()).rejects.toThrow(`in use by process ${owner.pid}`);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(processIdentity(orphan.pid)).toBeDefined();
    // By this alone a service of another container learns of the orphan.
    expect(await ownerAnswers(serverSocket())).toBe(true);
    const server = await start();
    expect(processIdentity(orphan.pid)).toBeUndefined();
    expect(await readNote(server)).toEqual(kept);
  });

  /** A service and the main process of its server, both killed, and a process of that server that works on a statement. */
  const killedWithBusyProcess = async (): Promise<number> => {
    const [command, ...args] = ownerProgram();
    const owner = spawn(command, [...args, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(owner.stdout, 'data');
    const { pid, superuserConnectionString: connectionString }: { pid: number } & Server = JSON.parse(String(line));
    const client = new pg.Client({ connectionString });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const busy = rows[0]?.pid ?? 0;
    void client.query('do $$ begin loop end loop; end $$').catch(() => undefined);
    await vi.waitUntil(
      async () => (await ask(connectionString, `select from pg_stat_activity where query like 'do %'`)).length > 0,
      { timeout: 120_000 },
    );
    owner.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await once(owner, 'exit');
    return busy;
  };

  it.runIf(process.platform === 'linux').each(['busy', 'frozen'])(
    'ends a %s process of a server whose main process was killed too, and no other program in the folder',
    { timeout: 120_000 },
    async (how) => {
      const left = await killedWithBusyProcess();
      if (how === 'frozen') process.kill(left, 'SIGSTOP');
      const shell = spawn('sleep', ['600'], { cwd: join(dataDir, 'postgres'), stdio: 'ignore' });
      await once(shell, 'spawn');
      const lines: string[] = [];
      const server = await start({ log: (line) => lines.push(line) });
      expect(await ask(server.connectionString, 'select 1 as n')).toEqual([{ n: 1 }]);
      expect(processIdentity(left)).toBeUndefined();
      expect(lines.find((line) => /^ending PostgreSQL processes .*: /.test(line))).toContain(String(left));
      expect(processIdentity(shell.pid ?? 0)).toBeDefined();
      shell.kill('SIGKILL');
    },
  );

  describe.runIf(process.platform === 'linux')('after a main process that has ended and is not reaped', () => {
    let parent: ChildProcess;
    let ended: number;
    const processFile = () => join(dataDir, 'postgres', 'postmaster.pid');
    /** `sleep` takes over the process of the shell and reaps no child. PostgreSQL heeds the process only when the user is its own. */
    const leave = async (program: string, ...args: string[]): Promise<void> => {
      const user = chooseOsUser();
      parent = spawn('sh', ['-c', '"$0" "$@" 2>/dev/null & echo $!; exec sleep 600', program, ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
        ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
      });
      const [line] = await once(parent.stdout ?? parent, 'data');
      ended = Number(String(line));
    };
    const leaveEnded = async (): Promise<void> => {
      const named = join(home, 'postgres');
      await symlink((await promisify(execFile)('which', ['sleep'])).stdout.trim(), named);
      await leave(named, '600');
      // The shell would reap a process that ends before `sleep` has taken over.
      const nameOf = async (pid: number | undefined) => (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
      await vi.waitUntil(async () => (await nameOf(parent.pid)) === 'sleep' && (await nameOf(ended)) === 'postgres', {
        timeout: 120_000,
      });
      process.kill(ended, 'SIGKILL');
      await writeFile(processFile(), `${ended}\n`);
    };
    beforeEach(async () => {
      await stop(await start());
    });
    afterEach(() => parent.kill('SIGKILL'));

    it('starts at once when that process was stopped cleanly', async () => {
      const { postgres } = await findBinaries(chooseOsUser());
      await leave(postgres, '-D', join(dataDir, 'postgres'), '-h', '127.0.0.1', '-k', '', '-p', `${await freePort()}`);
      await vi.waitUntil(async () => /^ready/m.test(await readFile(processFile(), 'utf8').catch(() => '')), {
        timeout: 120_000,
      });
      const lines: string[] = [];
      const server = await start({ log: (line) => lines.push(line) });
      expect(await ask(server.connectionString, 'select 1 as n')).toEqual([{ n: 1 }]);
      expect(lines).toContain(`stopping PostgreSQL process ${ended}, whose owner is gone`);
      expect(lines.filter((line) => line.startsWith('waiting until process'))).toEqual([]);
    });

    it('starts once the process is reaped', async () => {
      const log = (line: string) => {
        if (line.startsWith('waiting until process')) parent.kill('SIGKILL');
      };
      await leaveEnded();
      expect(await ask((await start({ log })).connectionString, 'select 1 as n')).toEqual([{ n: 1 }]);
    });

    it('says which process has to reap it, when that process does not', async () => {
      await leaveEnded();
      await expect(start()).rejects.toThrow(
        `PostgreSQL process ${ended} has ended and its parent, process ${parent.pid}, does not reap it: run the container with an init`,
      );
    });
  });

  describe('while a server that a killed service left behind runs in another container', () => {
    let unseen: ChildProcess;
    beforeEach(async () => {
      await mkdir(join(dataDir, 'lock'), { recursive: true });
      await chmod(dataDir, 0o711);
      unseen = spawn(process.execPath, ['-e', LISTEN, serverSocket()], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(unseen.stdout ?? unseen, 'data');
    });
    afterEach(() => unseen.kill('SIGKILL'));

    it('starts no second server on the folder, and starts once that server is gone', async () => {
      await expect(start()).rejects.toThrow(
        /^DATA_DIR \S+ is in use by a PostgreSQL that a killed service left behind where this process does not see it, as in another container: /,
      );
      expect(await readdir(dataDir)).toEqual(['lock']);
      unseen.kill('SIGKILL');
      await once(unseen, 'exit');
      expect(await ask((await start()).connectionString, 'select 1 as n')).toEqual([{ n: 1 }]);
    });

    it('removes nothing of a restore that was interrupted', async () => {
      await mkdir(join(dataDir, 'postgres'));
      await expect(discardRestored(dataDir)).rejects.toThrow(EmbeddedPostgresError);
      expect(await readdir(dataDir)).toEqual(['lock', 'postgres']);
    });
  });

  it('refuses a folder that is in use, names the owner, and lets go of it in the end', async () => {
    const server = await start();
    await expect(start()).rejects.toThrow(`in use by process ${process.pid}`);
    await stop(server);
    const lock = await lockDataDir(dataDir, { waitMs: 0 });
    const held = await startEmbeddedPostgres({ dataDir, log: () => undefined });
    await held.stop();
    await expect(lockDataDir(dataDir, { waitMs: 0 })).rejects.toThrow(EmbeddedPostgresError);
    await lock.release();
    await (await lockDataDir(dataDir, { waitMs: 0 })).release();
  });

  it('refuses data of another major version and leaves them alone', async () => {
    await mkdir(join(dataDir, 'postgres'), { recursive: true });
    await chmod(dataDir, 0o711);
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '15\n');
    await expect(start()).rejects.toThrow(/is of PostgreSQL 15, this service brings 18/);
    expect(await readFile(join(dataDir, 'postgres', 'PG_VERSION'), 'utf8')).toBe('15\n');
  });

  it('says in its error what the server wrote last when it does not start', async () => {
    await stop(await start());
    await rm(join(dataDir, 'postgres', 'pg_hba.conf'));
    await expect(start()).rejects.toThrow(/^PostgreSQL did not start: FATAL: .*pg_hba\.conf$/);
    await (await lockDataDir(dataDir, { waitMs: 0 })).release();
  });

  it('removes what an interrupted first start left behind', async () => {
    await mkdir(join(dataDir, 'postgres.new', 'base'), { recursive: true });
    await chmod(dataDir, 0o711);
    expect(await ask((await start()).connectionString, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  it('says in one line that the folder cannot be made', async () => {
    await writeFile(dataDir, 'a file');
    dataDir = join(dataDir, 'below');
    await expect(start()).rejects.toThrow(`DATA_DIR ${dataDir} cannot be created (ENOTDIR): choose another DATA_DIR`);
  });

  it.runIf(process.getuid?.() === 0)(
    'starts under a umask that closes new folders to the user of the server',
    async () => {
      dataDir = join(home, 'above', 'data');
      const owner = spawn('sh', ['-c', 'umask 077; exec "$@"', 'sh', ...ownerProgram(), dataDir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [line] = await once(owner.stdout, 'data');
      expect(JSON.parse(String(line))).toMatchObject({ pid: expect.any(Number) });
      owner.kill('SIGKILL');
      await once(owner, 'exit');
      await stop(await start());
    },
  );

  it.runIf(process.getuid?.() === 0)(
    'says in one line what to do about a folder that its user cannot reach',
    async () => {
      await chmod(home, 0o700);
      await expect(start()).rejects.toThrow(
        new RegExp(
          `^DATA_DIR ${dataDir} cannot be reached by OS user \\S+: choose another DATA_DIR or run as a normal user$`,
        ),
      );
    },
  );
});
