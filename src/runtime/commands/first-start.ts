import {
  createKey,
  loadCompany,
  type NewApiKey,
  putCertificate,
  putCompanyFile,
  setCompanyEnabled,
} from '../../app/operator/company/company-commands.js';
import { companyPrefix, companyStream, type Mode } from '../../domain/common/ids.js';
import type { Clock } from '../../ports/clock.js';
import { type Config, modesWithoutAuthorizer } from '../config/config.js';
import type { Engines } from '../engines/engines.js';
import { sessionOver } from '../operator/session.js';
import type { Service } from '../roles/parts.js';
import { demoCompany } from './demo-company.js';

/** The first start of the embedded default with the simulator creates the demo company and a test key, which is printed once and not stored. */
export const prepareFirstStart = async (service: Service, config: Config, clock: Clock): Promise<void> => {
  if (config.databaseUrl !== undefined || modesWithoutAuthorizer(config).length < 2) return;
  if (!(await isFirstStart(service.engines))) return;
  const [created] = await makeDemoCompany(service, config, clock, ['test']);
  if (created === undefined) return;
  process.stderr.write(
    [
      '',
      `  Demo company ${demoCompany().cnpj} registered. Its test key is shown only now:`,
      `  ${created.key}`,
      `  Try: curl -H 'Authorization: Bearer <key>' ${service.url}/v1/activities`,
      '',
      '',
    ].join('\n'),
  );
};

/** True while no company is there, or the demo company alone without a key. Reads the log: after a restore the rows are missing for a while. */
export const isFirstStart = async ({ log, store }: Pick<Engines, 'log' | 'store'>): Promise<boolean> => {
  const { cnpj } = demoCompany();
  const [first] = await log.readAll({ prefixes: [companyPrefix], after: null, limit: 1 });
  if (first === undefined) return true;
  if (first.stream !== companyStream(cnpj)) return false;
  const { state } = await loadCompany(cnpj, store);
  if (state.kind === 'company' && state.keys.length > 0) return false;
  const [last] = await log.readLast({ prefixes: [companyPrefix], limit: 1 });
  return last?.stream === first.stream;
};

const FIRST_START = 'first-start';

/** Registers and enables `registration` with a certificate of the simulator's authority and one key per mode. */
export const makeDemoCompany = async (
  service: Pick<Service, 'engines'>,
  config: Config,
  clock: Clock,
  modes: readonly Mode[],
  registration = demoCompany(),
): Promise<readonly NewApiKey[]> => {
  const session = sessionOver(service.engines, config, clock);
  const deps = session.companyDeps(FIRST_START);
  const { cnpj } = registration;
  doneOrThrow(await putCompanyFile(registration, deps));
  const certificate = doneOrThrow(await session.issueDemoCertificate(cnpj, registration.legalName, FIRST_START));
  doneOrThrow(await putCertificate(cnpj, certificate, session.vault, deps));
  const keys: NewApiKey[] = [];
  doneOrThrow(await setCompanyEnabled(cnpj, true, deps));
  // Last: a company that has a key counts as made, and a start that died before repeats all steps.
  for (const mode of modes) keys.push(doneOrThrow(await createKey(cnpj, mode, ['nfse:read', 'nfse:write'], deps)));
  return keys;
};

const doneOrThrow = <T>(result: { done: T } | { refused: string }): T => {
  if ('refused' in result) throw new Error(`the demo company could not be made: ${result.refused}`);
  return result.done;
};
