import { getPriority, setPriority } from 'node:os';
import { pause } from '../../lib/pause.js';
import { FolderInUse, type Simulator } from '../../simulator/options.js';
import { startSimulator } from '../../simulator/start.js';
import { systemClock } from './clock.js';
import { endAbandonedSimulator, namedProcess, simulatorProcessId, writeSimulatorOwner } from './simulator-owner.js';
import type { ChildMessage, NodeError, SimulatorOrder, SimulatorSettings } from './simulator-process.js';
import { simulatorTables } from './simulator-tables.js';

/** Serving clients, PDFs included, goes before simulating the authorizer when the cores are busy. */
const NICER = 15;

/** Milliseconds in which the simulator of a service that was killed has ended and left the folder. */
const FOLDER_FREE_WITHIN_MS = 5_000;
const AGAIN_AFTER_MS = 100;

/** A simulator that still has the folder of a killed service after this time is frozen. */
const ABANDONED_AFTER_MS = 2_000;

const tell = (message: ChildMessage, sent: () => void = () => undefined): void => {
  // The service may have ended; then `disconnect` ends this process, and the error of sending says nothing new.
  process.send?.(message, sent);
};

const warn = (line: object): void => tell({ kind: 'warning', line });

const startOnFreeFolder = async (settings: SimulatorSettings, log: (line: object) => void): Promise<Simulator> => {
  for (let waitedMs = 0; ; waitedMs += AGAIN_AFTER_MS) {
    try {
      return await startSimulator({ ...settings, clock: systemClock, tables: simulatorTables, log, warn });
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
      if (waitedMs >= FOLDER_FREE_WITHIN_MS) throw await naming(error, settings.folder);
      if (waitedMs >= ABANDONED_AFTER_MS) await endAbandonedSimulator(settings.folder);
      await pause(AGAIN_AFTER_MS);
    }
  }
};

const naming = async (error: FolderInUse, folder: string): Promise<FolderInUse> => {
  const pid = await simulatorProcessId(folder);
  return pid === undefined ? error : new FolderInUse(`${error.message} (process ${pid})`);
};

const run = async ({ settings, logs }: SimulatorOrder): Promise<void> => {
  const service = namedProcess(process.ppid);
  let opened: Simulator | undefined;
  const end = async (): Promise<void> => {
    // A client that never reads must not keep the folder locked.
    setTimeout(() => process.exit(0), CLOSE_WITHIN_MS).unref();
    await opened?.close();
    process.exit(0);
  };
  // The service may end during this start.
  process.once('disconnect', () => void end());
  try {
    opened = await startOnFreeFolder(settings, (line) => {
      if (logs) tell({ kind: 'log', line });
    });
    await nameOwner(settings.folder, service);
    const { close: _close, ...simulator } = opened;
    tell({ kind: 'ready', simulator });
  } catch (error) {
    const { name, message, code, port, syscall, path } = error as NodeError;
    tell({ kind: 'failed', fault: { name, message, code, port, syscall, path } }, () => void end());
  }
};

/** Only a start that finds this process frozen reads the file, so the simulator also serves without it. */
const nameOwner = async (folder: string, service: ReturnType<typeof namedProcess>): Promise<void> => {
  try {
    await writeSimulatorOwner(folder, service);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    warn({ msg: 'the process of the simulator cannot be named in its folder', code, syscall });
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
