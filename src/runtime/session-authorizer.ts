import { createCertificateOpener } from '../app/certificates/open-certificate.js';
import type { Company } from '../domain/company/company.js';
import type { CompanyId } from '../domain/shared/ids.js';
import type { Authorizer } from '../ports/authorizer.js';
import type { Clock } from '../ports/clock.js';
import { FolderInUse, type Simulator, simulatorAuthority } from '../simulator/start.js';
import { leaderSession } from '../workers/projection-leader.js';
import { modesWithoutAuthorizer, openAuthorizer, openSimulator, simulatorFolder } from './authorizers.js';
import type { Config } from './config.js';
import type { Engines } from './engines.js';
import type { Logger } from './logger.js';
import type { Runner } from './runner.js';
import { readSimulatorAddress } from './simulator-address.js';

type CompanyOf = (companyId: CompanyId) => Promise<Company | undefined>;

const companyOfRows =
  ({ engines: { readModel } }: Pick<SessionParts, 'engines'>): CompanyOf =>
  async (companyId) => {
    const found = await readModel.company(companyId);
    return found?.state.kind === 'company' ? found.state : undefined;
  };

export type SessionParts = { engines: Engines; config: Config; clock: Clock; logger: Logger; runner: Runner };

/** The authorizer as the service asks it; certificates are opened in the actor's name, which is an event each. */
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
 * The one that runs on this data folder; when none does, its ledger is asked by one of this command's own. A folder in which none
 * ever ran has no ledger, and its emptiness would "prove" a false absence: nobody is asked then.
 */
const reachSimulator = async (parts: SessionParts): Promise<Pick<Simulator, 'urls' | 'caPem'> | undefined> => {
  const { config, clock, engines, logger, runner } = parts;
  const running = await runningSimulator(config, clock);
  if (running === undefined) return undefined;
  const lock = leaderSession(engines.pool, 'for ever');
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

/** Of this data folder, as it wrote its address at its start; undefined when none ever ran here. */
export const runningSimulator = async (
  config: Config,
  clock: Clock,
): Promise<Pick<Simulator, 'urls' | 'caPem'> | undefined> => {
  const urls = await readSimulatorAddress(simulatorFolder(config));
  return urls === undefined ? undefined : { urls, caPem: await simulatorAuthority(simulatorFolder(config), clock) };
};
