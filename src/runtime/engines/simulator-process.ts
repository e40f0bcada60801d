import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { entryFile } from '../../lib/entry-file.js';
import { pause, settlesWithin } from '../../lib/pause.js';
import { FolderInUse, LedgerDamaged, type Simulator, type SimulatorOptions } from '../../simulator/options.js';
import type { Logger } from '../config/logger.js';
import type { Runner } from './runner.js';

/** What a simulator needs of the configuration; plain values, so that they cross to another process. */
export type SimulatorSettings = Omit<SimulatorOptions, 'clock' | 'timers' | 'tables' | 'log' | 'warn'>;

/** The one message to the process. `logs`: whether it sends its log lines. */
export type SimulatorOrder = { settings: SimulatorSettings; logs: boolean };

type StartFault = Pick<NodeError, 'name' | 'message' | 'code' | 'port' | 'syscall' | 'path'>;

/** `port`: of a fault of listening. */
export type NodeError = NodeJS.ErrnoException & { port?: number | undefined };

export type ChildMessage =
  | { kind: 'ready'; simulator: Omit<Simulator, 'close'> }
  | { kind: 'failed'; fault: StartFault }
  | { kind: 'log' | 'warning'; line: object };

/** A process for the simulator. It loads its code from the moment it is forked, beside the start of the engines. */
export type SimulatorProcess = {
  /** Starts the simulator there. Rejects with the errors of `startSimulator`. */
  open(settings: SimulatorSettings): Promise<Simulator>;
};

/** Variables that the process needs, the last one from source; secrets of the service are not handed on. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'TZ', 'COMPILED_CODE'];

const RESTART_AFTER_MS = 1_000;

/** Runs the simulator in a separate process (ADR 38). After one that dies alone, another one continues on the same ledger and ports. */
export const forkSimulator = (logger: Logger, runner: Runner): SimulatorProcess => {
  let child = forkChild();
  runner.onStop('simulator process', () => ended(child));
  const open = async (settings: SimulatorSettings): Promise<Simulator> => {
    const simulator = await started(child, settings, logger);
    logger.debug({ msg: 'the simulator runs in a separate process', pid: child.pid });
    child.once('exit', (code, signal) => {
      if (runner.stopping.aborted) return;
      logger.error({ msg: 'the simulator ended and is started again', code, signal });
      void restart(withPortsOf(simulator, settings));
    });
    return { ...simulator, close: () => ended(child) };
  };
  const restart = async (settings: SimulatorSettings): Promise<void> => {
    await pause(RESTART_AFTER_MS, runner.stopping);
    if (runner.stopping.aborted) return;
    child = forkChild();
    await open(settings).catch((error: unknown) => {
      if (runner.stopping.aborted) return;
      logger.error({ msg: 'the simulator could not be started again', error: (error as Error).name });
      void restart(settings);
    });
  };
  return { open };
};

const forkChild = (): ChildProcess =>
  fork(fileURLToPath(entryFile('./simulator-child', import.meta.url)), [], {
    execArgv: [],
    env: Object.fromEntries(INHERITED.map((name) => [name, process.env[name]])),
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });

/** The ports that were taken at the first start: the service's clients keep their addresses. */
const withPortsOf = (
  { urls, controlUrl }: Pick<Simulator, 'urls' | 'controlUrl'>,
  settings: SimulatorSettings,
): SimulatorSettings => ({ ...settings, port: portOf(urls.test), controlPort: portOf(controlUrl) });

const portOf = (url: string): number => Number(new URL(url).port);

const started = (child: ChildProcess, settings: SimulatorSettings, logger: Logger): Promise<Omit<Simulator, 'close'>> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error('the process of the simulator ended during its start')));
    child.on('message', (message: ChildMessage) => {
      if (message.kind === 'ready') resolve(message.simulator);
      else if (message.kind === 'failed') reject(errorOf(message.fault));
      else if (message.kind === 'warning') logger.warn(message.line);
      else logger.debug({ msg: 'simulator', ...message.line });
    });
    const order: SimulatorOrder = { settings, logs: logger.isLevelEnabled('debug') };
    child.send(order, (error) => {
      if (error !== null) reject(error);
    });
  });

/** The error as a start in this process would have thrown it. */
const errorOf = ({ name, message, ...found }: StartFault): Error => {
  if (name === 'FolderInUse') return new FolderInUse(message);
  if (name === 'LedgerDamaged') return new LedgerDamaged(message);
  // The message between the processes has no field that is undefined, so that a fault of a file gets no port.
  return Object.assign(new Error(message), found);
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (child.connected) child.disconnect();
  if (await settlesWithin(END_WITHIN_MS, exit)) return;
  // A frozen process notices no end of the service.
  child.kill('SIGKILL');
  await exit;
};

/** Longer than the process takes to close, also on busy cores. */
const END_WITHIN_MS = 5_000;
