import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection } from 'nats';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

export type NatsServer = {
  /** The same after every restart. */
  url: string;
  /** Again, after it was killed; nothing while it runs. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would; its storage stays. */
  kill(): Promise<void>;
  /** The server stays connected and silent until it is thawed. */
  freeze(): void;
  thaw(): void;
  /** Removes the storage; only while the server is not running. */
  wipe(): Promise<void>;
  /** A connection of the test's own, closed with the server. */
  admin(): Promise<NatsConnection>;
  close(): Promise<void>;
};

export type NatsServerOptions = {
  /** In bytes; JetStream refuses what goes beyond. */
  maxStore?: number;
  /** A change takes effect with the next start. */
  identity?: { user: string; password: string };
  /** Of the identity, in the words of the server's configuration; `admin` is another user then, who may do all. */
  permissions?: string;
  /** False: a server that has no JetStream. */
  jetStream?: boolean;
};

const HOST = '127.0.0.1';

/** A real server as a child process, with a separate port and folder. For suites of `describeWith('natsServer', …)`. */
export const startNats = async (options: NatsServerOptions = {}): Promise<NatsServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'nfse-nats-'));
  const port = await freePort();
  const { identity, jetStream = true } = options;
  const url =
    identity === undefined
      ? `nats://${HOST}:${port}`
      : `nats://${identity.user}:${encodeURIComponent(identity.password)}@${HOST}:${port}`;
  const admins: NatsConnection[] = [];
  let running: ChildProcess | undefined;

  const isRunning = (child: ChildProcess | undefined): child is ChildProcess =>
    child !== undefined && child.exitCode === null && child.signalCode === null;

  const kill = async (): Promise<void> => {
    const child = running;
    running = undefined;
    if (!isRunning(child)) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  };

  const admin = async (): Promise<NatsConnection> => {
    const connection = await connect({ servers: `${HOST}:${port}`, timeout: 10_000, ...loginOf(options) });
    admins.push(connection);
    return connection;
  };

  const start = async (): Promise<void> => {
    // A second one would not get the port, and the first would outlive the run.
    if (isRunning(running)) return;
    const file = join(folder, 'server.conf');
    await writeFile(file, configuration(port, join(folder, 'store'), options));
    running = spawn('nats-server', ['--config', file], { stdio: 'ignore' });
    const answers = async (): Promise<boolean> => {
      const connection = await admin();
      if (jetStream) await connection.jetstreamManager();
      return true;
    };
    await eventually(() => answers().catch(() => false));
  };

  await start();
  return {
    url,
    start,
    kill,
    freeze: () => running?.kill('SIGSTOP'),
    thaw: () => running?.kill('SIGCONT'),
    wipe: () => rm(join(folder, 'store'), { recursive: true, force: true }),
    admin,
    close: async () => {
      await Promise.all(admins.map((connection) => connection.close()));
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** The server of TEST_NATS_URL, or one of this caller alone. */
export const anyNats = async (): Promise<{ url: string; close(): Promise<void> }> => {
  const given = process.env.TEST_NATS_URL ?? '';
  return given === '' ? startNats() : { url: given, close: async () => undefined };
};

/** For tests that share a server. */
export const freshPrefix = (): string => `t${randomUUID().replaceAll('-', '')}`;

const ADMIN = { user: 'admin', password: 'admin' };

const loginOf = ({ identity, permissions }: NatsServerOptions) => {
  if (identity === undefined) return {};
  const { user, password } = permissions === undefined ? identity : ADMIN;
  return { user, pass: password };
};

const userOf = ({ user, password }: typeof ADMIN, permissions = ''): string =>
  `{ user: "${user}", password: "${password}"\n${permissions} }`;

const configuration = (port: number, store: string, options: NatsServerOptions): string => {
  const { maxStore, identity, permissions, jetStream = true } = options;
  const limit = maxStore === undefined ? '' : `, max_file_store: ${maxStore}`;
  return [
    `listen: "${HOST}:${port}"`,
    ...(jetStream ? [`jetstream { store_dir: "${store}"${limit} }`] : []),
    ...(identity === undefined
      ? []
      : [`authorization { users: [ ${userOf(identity, permissions)}, ${userOf(ADMIN)} ] }`]),
  ].join('\n');
};
