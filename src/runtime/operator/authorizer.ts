import { leaderSession } from '../../adapters/sql/leader-lock.js';
import { createCertificateOpener } from '../../app/issuing/open-certificate.js';
import type { Company } from '../../domain/company/company.js';
import type { CompanyId } from '../../domain/shared/ids.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import { FolderInUse, type Simulator } from '../../simulator/start.js';
import { type Config, modesWithoutAuthorizer } from '../config/config.js';
import type { Logger } from '../config/logger.js';
import { openAuthorizer } from '../engines/authorizers.js';
import type { Engines } from '../engines/engines.js';
import type { Runner } from '../engines/runner.js';
import { openSimulator, runningSimulator } from '../engines/simulator.js';

type CompanyOf = (companyId: CompanyId) => Promise<Company | undefined>;

const companyOfRows =
  ({ engines: { readModel } }: Pick<SessionParts, 'engines'>): CompanyOf =>
  async (companyId) => {
    const found = await readModel.company(companyId);
    return found?.state.kind === 'company' ? found.state : undefined;
  };

export type SessionParts = { engines: Engines; config: Config; clock: Clock; logger: Logger; runner: Runner };

/** Opens the authorizer for a command. Each opening of a certificate records an event with this actor. */
export const openSessionAuthorizer = async (
  parts: SessionParts,
  actor: `support:${string}`,
  company: CompanyOf = companyOfRows(parts),
): Promise<Authorizer> => {
  const { engines, config, clock } = parts;
  const { vault, store } = engines;
  const certificateOf = createCertificateOpener({ vault, store, clock, company, actor });
  const simulator = modesWithoutAuthorizer(config).length === 0 ? undefined : await reachSimulator(parts);
  return await openAuthorizer({ ...parts, simulator, certificateOf });
};

/**
 * Reaches the simulator that runs on this data folder. If none runs, this command starts one on the same ledger. A folder without a ledger is not
 * asked, because an empty ledger would "prove" a false absence.
 */
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
