import { getPriority, setPriority } from 'node:os';
import { pause } from '../../lib/pause.js';
import { FolderInUse, type Simulator } from '../../simulator/options.js';
import { startSimulator } from '../../simulator/start.js';
import { systemClock } from './clock.js';
import type { ChildMessage, SimulatorOrder, SimulatorSettings } from './simulator-process.js';
import { simulatorTables } from './simulator-tables.js';

/** Serving clients, PDFs included, goes before simulating the authorizer when the cores are busy. */
const NICER = 15;

/** Milliseconds in which the simulator of a service that was killed has ended and left the folder. */
const FOLDER_FREE_WITHIN_MS = 5_000;
const AGAIN_AFTER_MS = 100;

const tell = (message: ChildMessage, sent: () => void = () => undefined): void => {
  // The service may have ended; then `disconnect` ends this process, and the error of sending says nothing new.
  process.send?.(message, sent);
};

const startOnFreeFolder = async (settings: SimulatorSettings, log: (line: object) => void): Promise<Simulator> => {
  for (let waitedMs = 0; ; waitedMs += AGAIN_AFTER_MS) {
    try {
      return await startSimulator({ ...settings, clock: systemClock, tables: simulatorTables, log });
    } catch (error) {
      if (!(error instanceof FolderInUse) || waitedMs >= FOLDER_FREE_WITHIN_MS) throw error;
      await pause(AGAIN_AFTER_MS);
    }
  }
};

const run = async ({ settings, logs }: SimulatorOrder): Promise<void> => {
  try {
    const { close, ...simulator } = await startOnFreeFolder(settings, (line) => {
      if (logs) tell({ kind: 'log', line });
    });
    process.once('disconnect', () => {
      // A client that never reads must not keep the folder locked.
      setTimeout(() => process.exit(0), CLOSE_WITHIN_MS).unref();
      void close().then(() => process.exit(0));
    });
    tell({ kind: 'ready', simulator });
  } catch (error) {
    const { name, message, code, port, syscall } = error as NodeJS.ErrnoException & { port?: number };
    tell({ kind: 'failed', fault: { name, message, code, port, syscall } }, () => process.disconnect());
  }
};

const CLOSE_WITHIN_MS = 1_000;

setPriority(Math.min(getPriority() + NICER, 19));
// Signals of a terminal reach the whole group. The simulator ends after the service, whose last sends may still be under way.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
const endEarly = (): never => process.exit(0);
process.once('disconnect', endEarly);
process.once('message', (order) => {
  process.off('disconnect', endEarly);
  void run(order as SimulatorOrder);
});
