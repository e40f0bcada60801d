import { createBackoff } from '../../lib/backoff.js';
import { pause, settlesWithin } from '../../lib/pause.js';
import type { PostgresExit, ServerProcess } from './server-process.js';

const RESTART_MS = { first: 100, longest: 5_000 };
const FAST_STOP_MS = 10_000;
const IMMEDIATE_STOP_MS = 5_000;

/** Keeps a server running: calls `launch`, with growing pauses, until it succeeds. */
export const supervise = (first: ServerProcess, launch: () => Promise<ServerProcess>, log: (line: string) => void) => {
  const callbacks: ((exit: PostgresExit) => void)[] = [];
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
