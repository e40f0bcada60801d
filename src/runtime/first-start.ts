import { randomUUID } from 'node:crypto';
import {
  createKey,
  loadCompany,
  type NewApiKey,
  putCompanyFile,
  recordCertificate,
  setCompanyEnabled,
} from '../app/company/company-commands.js';
import { companyStream, type Mode } from '../domain/shared/ids.js';
import type { Clock } from '../ports/clock.js';
import { modesWithoutAuthorizer } from './authorizers.js';
import type { Config } from './config.js';
import { demoCompany } from './demo-company.js';
import type { Engines } from './engines.js';
import type { Service } from './service.js';
import { sessionOver } from './session.js';

/** A first embedded start with the simulator gets the demo company and one test key, printed once and kept nowhere. */
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

/**
 * Nobody is registered, or a first start died before it had made the demo company's key. The log says so: after a restore the
 * read model is empty for a while, and the companies of the log are not to get a demo company beside them.
 */
export const isFirstStart = async ({ log, store }: Pick<Engines, 'log' | 'store'>): Promise<boolean> => {
  const { cnpj } = demoCompany();
  const [first] = await log.readAll({ prefixes: ['company-'], after: null, limit: 1 });
  if (first === undefined) return true;
  if (first.stream !== companyStream(cnpj)) return false;
  const { state } = await loadCompany(cnpj, store);
  if (state.kind === 'company' && state.keys.length > 0) return false;
  const [last] = await log.readLast({ prefixes: ['company-'], limit: 1 });
  return last?.stream === first.stream;
};

/** `registration` registered, certified by the simulator's authority, enabled, with a key per mode. */
export const makeDemoCompany = async (
  service: Service,
  config: Config,
  clock: Clock,
  modes: readonly Mode[],
  registration = demoCompany(),
): Promise<readonly NewApiKey[]> => {
  const session = sessionOver(service.engines, config, clock);
  const deps = session.companyDeps('first-start');
  const { cnpj } = registration;
  must(await putCompanyFile(registration, deps));
  const certificate = {
    ...(await session.issueDemoCertificate(cnpj, registration.legalName)),
    certificateId: randomUUID(),
  };
  await session.vault.put(cnpj, certificate);
  const { certificateId, notBefore, notAfter, fingerprint } = certificate;
  must(await recordCertificate(cnpj, { certificateId, notBefore, notAfter, fingerprint }, deps));
  const keys: NewApiKey[] = [];
  for (const mode of modes) keys.push(must(await createKey(cnpj, mode, ['nfse:read', 'nfse:write'], deps)));
  must(await setCompanyEnabled(cnpj, true, deps));
  return keys;
};

const must = <T>(result: { done: T } | { refused: string }): T => {
  if ('refused' in result) throw new Error(`the demo company could not be made: ${result.refused}`);
  return result.done;
};
