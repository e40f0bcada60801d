import { leaderSession } from '../../adapters/sql/leader-lock.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import { FolderInUse, type Simulator } from '../../simulator/options.js';
import { type Config, modesWithoutAuthorizer } from '../config/config.js';
import type { Logger } from '../config/logger.js';
import { openAuthorizer } from '../engines/authorizers.js';
import { certificatesOf } from '../engines/companies.js';
import type { Engines } from '../engines/engines.js';
import type { Runner } from '../engines/runner.js';
import { openSimulator, runningSimulator } from '../engines/simulator.js';

export type SessionParts = { engines: Engines; config: Config; clock: Clock; logger: Logger; runner: Runner };

/** Opens the authorizer for a command. Each opening of a certificate records an event with this actor. */
export const openSessionAuthorizer = async (
  parts: SessionParts,
  actor: `support:${string}`,
  company?: Parameters<typeof certificatesOf>[2],
): Promise<Authorizer> => {
  const simulator = modesWithoutAuthorizer(parts.config).length === 0 ? undefined : await reachSimulator(parts);
  return openAuthorizer({ ...parts, simulator, certificateOf: certificatesOf(parts, actor, company) });
};

/** Reaches the simulator of this data folder, or starts one on its ledger; without a ledger none, because an empty one "proves" a false absence. */
const reachSimulator = async (parts: SessionParts): Promise<Pick<Simulator, 'urls' | 'caPem'> | undefined> => {
  const { config, clock, engines, logger, runner } = parts;
  const running = await runningSimulator(config, clock);
  if (running === undefined) return undefined;
  const lock = leaderSession(engines.pool, 'none');
  if ((await lock.tryLead('simulator')) === undefined) {
    await lock.close();
    return running;
  }
  runner.onStop('simulator lock', () => lock.close());
  try {
    const free = { ...config, simulator: { ...config.simulator, port: 0, controlPort: 0 } };
    return await openSimulator(free, clock, logger, runner);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    return running;
  }
};
