import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresExit, ServerProcess } from './server-process.js';

type Supervisor = {
  /** Shuts the server down, by force if it takes too long; nothing restarts it afterwards. */
  stop(): Promise<void>;
  /** Called whenever the server ended without a stop; it is being started again. */
  onExit(callback: (exit: PostgresExit) => void): void;
  pid(): number;
};

const RESTART_MS = { first: 100, longest: 5_000 };
const FAST_STOP_MS = 10_000;
const IMMEDIATE_STOP_MS = 5_000;

/** Keeps a server running: calls `launch`, with growing pauses, until it succeeds. */
export const supervise = (
  first: ServerProcess,
  launch: () => Promise<ServerProcess>,
  log: (line: string) => void,
): Supervisor => {
  const callbacks: ((exit: PostgresExit) => void)[] = [];
  const stopping = new AbortController();
  let current = first;

  const relaunch = async (): Promise<ServerProcess | undefined> => {
    for (let wait = RESTART_MS.first; !stopping.signal.aborted; wait = Math.min(wait * 2, RESTART_MS.longest)) {
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return undefined;
      try {
        return await launch();
      } catch (error) {
        log(error instanceof Error ? error.message : 'PostgreSQL did not start');
      }
    }
    return undefined;
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
    onExit: (callback) => {
      callbacks.push(callback);
    },
    pid: () => current.pid,
    stop: async () => {
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
  if (await endsWithin(server, FAST_STOP_MS)) return;
  server.signal('SIGQUIT');
  if (await endsWithin(server, IMMEDIATE_STOP_MS)) return;
  server.signal('SIGKILL');
  await server.exited;
};

const endsWithin = async (server: ServerProcess, ms: number): Promise<boolean> => {
  const limit = new AbortController();
  const late = pause(ms, false, { signal: limit.signal }).catch(() => false);
  const ended = await Promise.race([server.exited.then(() => true), late]);
  limit.abort();
  return ended;
};
