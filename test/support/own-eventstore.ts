import { type ChildProcess, spawn } from 'node:child_process';
import { EventStoreDBClient } from '@eventstore/db-client';
import { eventually } from './eventually.js';

/** A real EventStoreDB that the caller's command starts in the foreground, so that a run can kill it. */
export type OwnEventStore = {
  /** Again, after the server was killed; resolves when the server answers. Nothing while it runs. */
  start(): Promise<void>;
  /** SIGKILL for the command and everything that it started. */
  kill(): Promise<void>;
};

/** A server over a long log verifies its chunks before it answers. */
const UP_WITHIN_MS = 120_000;
const ASK_WITHIN_MS = 2_000;

/** `command`: a line for `sh`; `url`: the address at which the server that it starts answers. */
export const startOwnEventStore = async (command: string, url: string): Promise<OwnEventStore> => {
  let running: ChildProcess | undefined;
  const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

  const start = async (): Promise<void> => {
    if (running !== undefined && !hasEnded(running)) return;
    // A group of its own, because a shell may stay between this process and the server.
    const child = spawn('sh', ['-c', command], { stdio: 'ignore', detached: true });
    running = child;
    await eventually(
      async () => {
        if (hasEnded(child)) throw new Error(`TEST_EVENTSTORE_COMMAND ended by itself: ${command}`);
        return await answers(url);
      },
      Boolean,
      UP_WITHIN_MS,
    );
  };

  const kill = async (): Promise<void> => {
    const child = running;
    running = undefined;
    if (child?.pid === undefined || hasEnded(child)) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await gone;
  };

  await start();
  return { start, kill };
};

/** By a client of its own for each try: a client remembers a server that was gone. */
const answers = async (url: string): Promise<boolean> => {
  const client = EventStoreDBClient.connectionString(url);
  try {
    for await (const _event of client.readAll({ maxCount: 1, deadline: ASK_WITHIN_MS })) break;
    return true;
  } catch {
    return false;
  } finally {
    await client.dispose();
  }
};
