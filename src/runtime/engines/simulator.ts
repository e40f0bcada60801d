import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import * as v from 'valibot';
import { type LeaderSession, leaderSession } from '../../adapters/sql/leader-lock.js';
import type { Mode } from '../../domain/common/ids.js';
import { DAY_SECONDS } from '../../domain/common/time.js';
import { writeWhole } from '../../lib/files.js';
import { pause } from '../../lib/pause.js';
import type { Clock } from '../../ports/clock.js';
import { openIdentities, simulatorAuthority } from '../../simulator/authority.js';
import type { Simulator } from '../../simulator/options.js';
import { isLoopback } from '../config/checks.js';
import type { Config } from '../config/config.js';
import { SPEC_WINDOWS } from '../config/environment.js';
import type { Logger } from '../config/logger.js';
import { atOwnAddress } from '../config/own-address.js';
import type { Runner } from './runner.js';
import type { SimulatorProcess, SimulatorSettings } from './simulator-process.js';

const address = v.object({ live: v.string(), test: v.string() });

const fileOf = (folder: string): string => join(folder, 'address.json');

const writeSimulatorAddress = (folder: string, urls: Record<Mode, string>): Promise<void> =>
  writeWhole(fileOf(folder), JSON.stringify({ live: urls.live, test: urls.test }), 0o600);

/** Undefined when no simulator ever ran here. It may have ended since, which callers must handle. */
const readSimulatorAddress = async (folder: string): Promise<Record<Mode, string> | undefined> => {
  try {
    return v.parse(address, JSON.parse(await readFile(fileOf(folder), 'utf8')));
  } catch {
    return undefined;
  }
};

export const simulatorFolder = (config: Config): string => join(config.dataDir, 'simulator');

/** The simulator keeps a note for a day more than the service keeps the test invoice. */
const settingsOf = (config: Config): SimulatorSettings => {
  const { host, port, controlPort, clientAuthorities, renegotiate, strict } = config.simulator;
  return {
    folder: simulatorFolder(config),
    host,
    // Callers on another machine use this machine's name.
    serverNames: isLoopback(host) ? [] : [hostname()],
    port,
    controlPort,
    renegotiate,
    strict,
    testNoteSeconds: Math.max(config.limits.testRetentionSeconds, SPEC_WINDOWS.TEST_RETENTION_S) + DAY_SECONDS,
    clientAuthoritiesPem: clientAuthorities,
  };
};

/** Makes the keys and certificates that the simulator of this folder lacks, so that its start finds them. */
export const prepareSimulator = async (config: Config, clock: Clock): Promise<void> => {
  const { folder, serverNames = [] } = settingsOf(config);
  await openIdentities(folder, serverNames, clock);
};

/** Starts the simulator in this process: as a program, for an operator command, or for a test that moves the clock. */
export const openSimulator = async (
  config: Config,
  clock: Clock,
  logger: Logger,
  runner: Runner,
): Promise<Simulator> => {
  // Imported on use: a service runs its simulator in a process apart.
  const [{ startSimulator }, { simulatorTables }] = await Promise.all([
    import('../../simulator/start.js'),
    import('./simulator-tables.js'),
  ]);
  const log = (line: object): void => logger.debug({ msg: 'simulator', ...line });
  const warn = (line: object): void => logger.warn(line);
  const starting = startSimulator({ ...settingsOf(config), clock, tables: simulatorTables, log, warn });
  const simulator = await atOwnAddress('SIMULATOR_HOST', config.simulator.host, starting);
  runner.onStop('simulator', () => simulator.close());
  await writeSimulatorAddress(simulatorFolder(config), simulator.urls);
  return simulator;
};

/** Thrown when another process on this database runs a simulator: two ledgers could "prove" a false absence. */
export class SimulatorElsewhere extends Error {
  override readonly name = 'SimulatorElsewhere';
}

/** Starts the service's simulator, in `process` if there is one. Throws `SimulatorElsewhere` while another process on this database runs one. */
export const openOnlySimulator = async (
  { config, clock, logger }: { config: Config; clock: Clock; logger: Logger },
  { pool }: { pool: pg.Pool },
  runner: Runner,
  process: SimulatorProcess | undefined,
): Promise<Simulator> => {
  // No lease: a frozen simulator continues with its ledger when it resumes, so no other may start in the meantime.
  const session = leaderSession(pool, 'none');
  runner.onStop('simulator lock', () => session.close());
  const lost = await session.tryLead(LOCK);
  if (lost === undefined) {
    throw new SimulatorElsewhere(
      'another process on this database runs the simulator: set AUTHORIZER_TEST_URL and AUTHORIZER_LIVE_URL, or give this process other roles than issuer',
    );
  }
  // The stop does not wait for a silent server: closing the session frees the lock.
  void keepLock(session, lost, logger, runner);
  if (process === undefined) return await openSimulator(config, clock, logger, runner);
  const simulator = await atOwnAddress('SIMULATOR_HOST', config.simulator.host, process.open(settingsOf(config)));
  runner.onStop('simulator', () => simulator.close());
  await writeSimulatorAddress(simulatorFolder(config), simulator.urls);
  return simulator;
};

const LOCK = 'simulator';

/** Takes a lost lock again until the process stops, and tells when another process has it, because then two ledgers exist. */
const keepLock = async (session: LeaderSession, first: AbortSignal, logger: Logger, runner: Runner): Promise<void> => {
  let lost: AbortSignal | undefined = first;
  let isTold = false;
  while (!runner.stopping.aborted) {
    if (lost !== undefined && !lost.aborted) {
      isTold = false;
      await untilAny([lost, runner.stopping]);
      continue;
    }
    const taken = await session.tryLead(LOCK, runner.stopping).catch(() => 'unreachable' as const);
    lost = taken === 'unreachable' ? undefined : taken;
    if (taken === undefined && !isTold && !runner.stopping.aborted) {
      isTold = true;
      logger.error({ msg: 'another process on this database runs a simulator too: stop one of the two' });
    }
    if (lost === undefined) await pause(TRY_AGAIN_MS, runner.stopping);
  }
};

const TRY_AGAIN_MS = 1_000;

const untilAny = async (signals: readonly AbortSignal[]): Promise<void> => {
  const any = AbortSignal.any([...signals]);
  if (!any.aborted) await once(any, 'abort');
};

/** Address and authority of the simulator that last started on this data folder; undefined when none ever did. */
export const runningSimulator = async (
  config: Config,
  clock: Clock,
): Promise<Pick<Simulator, 'urls' | 'caPem'> | undefined> => {
  const urls = await readSimulatorAddress(simulatorFolder(config));
  return urls === undefined ? undefined : { urls, caPem: await simulatorAuthority(simulatorFolder(config), clock) };
};
