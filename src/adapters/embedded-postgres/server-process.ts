import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createBackoff } from '../../lib/backoff.js';
import { pause, settlesWithin } from '../../lib/pause.js';
import { EmbeddedPostgresError } from './error.js';
import type { OsUser } from './os-user.js';
import type { OwnerSocket } from './owner-socket.js';

type PostgresExit = { code: number | null; signal: NodeJS.Signals | null };

export type ServerProcess = { exited: Promise<PostgresExit>; signal(signal: NodeJS.Signals): void; pid: number };

type Launch = {
  postgres: string;
  cluster: string;
  port: number;
  user: OsUser | undefined;
  /** All processes of the server inherit this socket, which answers as long as one of them lives. */
  socket: OwnerSocket | undefined;
  /** Server settings that override the defaults. */
  settings: Readonly<Record<string, string>>;
  log: (line: string) => void;
};

const START_LIMIT_MS = 60_000;
const OUTPUT_MS = 1_000;

/** Modest memory, durable commits, loopback only. Statements and values stay out of the log, because they hold personal data. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '60',
  // Any user of this machine may connect and say nothing. Three times as long as the service waits for a connection, so no slow machine loses one by this.
  authentication_timeout: '15s',
  shared_buffers: '64MB',
  fsync: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  lc_messages: 'C',
  log_line_prefix: '',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Resolves when the server accepts connections; throws `EmbeddedPostgresError` with the line of its output that best explains the failure. */
export const launchServer = async (launch: Launch): Promise<ServerProcess> => {
  const settings = { ...SETTINGS, port: String(launch.port), ...launch.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(launch.postgres, ['-D', launch.cluster, ...flags], spawnOptions(launch.user, launch.socket));
  const exited = endOf(child, 'exit');
  const closed = endOf(child, 'close');
  const failureLine = failureLineOf(child);
  let isReady = false;
  const ready = new Promise<void>((resolve) => {
    onLines(child, (line) => {
      launch.log(line);
      isReady ||= line.includes('database system is ready to accept connections');
      if (isReady) resolve();
    });
  });
  await settlesWithin(START_LIMIT_MS, Promise.race([ready, exited]));
  if (isReady && child.pid !== undefined) return { exited, pid: child.pid, signal: (signal) => child.kill(signal) };
  child.kill('SIGKILL');
  // The line that explains the failure may come after the end of the process.
  await settlesWithin(OUTPUT_MS, closed);
  throw new EmbeddedPostgresError(`PostgreSQL did not start: ${failureLine()}`);
};

/** Runs a program of PostgreSQL to its end; throws `EmbeddedPostgresError` as `launchServer` does. */
export const runToEnd = async (program: string, args: readonly string[], user: OsUser | undefined): Promise<void> => {
  const child = spawn(program, args, spawnOptions(user));
  const failureLine = failureLineOf(child);
  const { code } = await endOf(child, 'close');
  if (code !== 0) throw new EmbeddedPostgresError(`PostgreSQL could not be prepared: ${failureLine()}`);
};

const spawnOptions = (user: OsUser | undefined, socket?: OwnerSocket) => ({
  stdio: ['ignore', 'pipe', 'pipe', socket?.fd ?? 'ignore'] as ['ignore', 'pipe', 'pipe', number | 'ignore'],
  // A separate process group: Ctrl-C at a terminal must reach only this process, which stops the server after its users.
  detached: true,
  cwd: '/',
  // The server inherits nothing of our environment, which may hold secrets.
  env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' },
  ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
});

/** `close` comes after the last output. Processes of the server hold the output open, so a frozen one of them keeps `close` from coming. */
const endOf = (child: ChildProcess, event: 'exit' | 'close'): Promise<PostgresExit> =>
  new Promise((resolve) => {
    child.once(event, (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: -1, signal: null }));
  });

const onLines = (child: ChildProcess, handle: (line: string) => void): void => {
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', handle);
};

/** The last line that says how the process ended, else the last that names an error, else the last line. */
const failureLineOf = (child: ChildProcess): (() => string) => {
  let last = 'no output';
  let failure: string | undefined;
  let ending: string | undefined;
  child.once('error', (error) => {
    failure = error.message;
  });
  onLines(child, (line) => {
    if (line.trim() === '') return;
    last = line.trim();
    if (/error|could n[o']t?|No space left/i.test(line)) failure = last;
    if (/FATAL|PANIC/.test(line) && !REFUSED_CLIENT.test(line)) ending = last;
  });
  return () => ending ?? failure ?? last;
};

/** A server that starts or ends says this of each client that tries to connect meanwhile. */
const REFUSED_CLIENT = /FATAL: +the database system is /;

const RESTART_MS = { first: 100, longest: 5_000 };

/** Milliseconds from one start of a server that ended to the next one, if the start hangs. */
export const LONGEST_RESTART_MS = START_LIMIT_MS + RESTART_MS.longest;

const FAST_STOP_MS = 10_000;
const IMMEDIATE_STOP_MS = 5_000;

/** Keeps a server running: calls `launch`, with growing pauses, until it succeeds. */
export const supervise = (first: ServerProcess, launch: () => Promise<ServerProcess>, log: (line: string) => void) => {
  const callbacks: ((exit: PostgresExit) => void)[] = [];
  const onFailures: ((error: unknown) => void)[] = [];
  const stopping = new AbortController();
  let current = first;

  const relaunch = async (): Promise<ServerProcess | undefined> => {
    const waits = createBackoff(RESTART_MS.first, RESTART_MS.longest);
    for (;;) {
      await pause(waits.next(), stopping.signal);
      if (stopping.signal.aborted) return undefined;
      try {
        return await launch();
      } catch (error) {
        log(error instanceof Error ? error.message : 'PostgreSQL did not start');
        for (const callback of onFailures) callback(error);
      }
    }
  };

  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const exit = await current.exited;
      if (stopping.signal.aborted) return;
      log(`PostgreSQL ended (code ${exit.code}, signal ${exit.signal}); starting it again`);
      for (const callback of callbacks) callback(exit);
      const next = await relaunch();
      if (next === undefined) return;
      current = next;
    }
  };

  const watching = watch();
  return {
    /** Called whenever the server ended without a stop; it is being started again. */
    onExit: (callback: (exit: PostgresExit) => void): void => {
      callbacks.push(callback);
    },
    /** Called whenever the server, which had ended, did not start again; it is tried again. */
    onFailedStart: (callback: (error: unknown) => void): void => {
      onFailures.push(callback);
    },
    pid: (): number => current.pid,
    /** Shuts the server down, by force if it takes too long; nothing restarts it afterwards. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await endServer(current);
      await watching;
      // A launch that was under way when the stop came may have started another server.
      await endServer(current);
    },
  };
};

/** Fast shutdown, then one without a checkpoint, then by force; PostgreSQL recovers from each. */
const endServer = async (server: ServerProcess): Promise<void> => {
  server.signal('SIGINT');
  if (await settlesWithin(FAST_STOP_MS, server.exited)) return;
  server.signal('SIGQUIT');
  if (await settlesWithin(IMMEDIATE_STOP_MS, server.exited)) return;
  server.signal('SIGKILL');
  await server.exited;
};
