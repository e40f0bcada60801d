import { createMunicipalParameters } from '../adapters/authorizer/parameters.js';
import { createParametersCache } from '../adapters/municipal-parameters/cache.js';
import { createCertificateOpener } from '../app/certificates/open-certificate.js';
import { wantedOf } from '../app/municipal-parameters/wanted.js';
import { shortCache } from '../app/short-cache.js';
import type { Mode } from '../domain/shared/ids.js';
import type { MunicipalParametersApi } from '../ports/municipal-parameters.js';
import { municipalityByName } from '../tables/municipalities.js';
import { runParametersRefresher } from '../workers/parameters-refresher.js';
import { leaderSession } from '../workers/projection-leader.js';
import { modes, trustRoots } from './authorizers.js';
import { companyCatalogue } from './company-catalogue.js';
import { companyOf } from './issuing.js';
import { lastingLead } from './lasting-lead.js';
import { faultFields } from './logger.js';
import { parametersAddress } from './national-address.js';
import type { Parts } from './service.js';

/** The registered companies are looked through this often: a new one's municipality is asked for within it. */
const WANTED_MS = 15_000;

/** Nobody waits for an answer, and a slow one must not hold the connection for long. */
const CALL_TIMEOUT_MS = 10_000;

/** Keeps the municipal parameters of this process's modes young until the signal aborts; no request waits for it. */
export const refreshParametersForEver = async (parts: Parts, signal: AbortSignal): Promise<void> => {
  const { config, clock, engines, logger, metrics, simulator } = parts;
  const addressOf = (mode: Mode): string | undefined => parametersAddress(config, simulator, mode);
  const asked = modes.filter((mode) => addressOf(mode) !== undefined);
  if (asked.length === 0) return;
  const { vault, store } = engines;
  const company = companyOf(engines, clock);
  const certificateOf = createCertificateOpener({ vault, store, clock, company, actor: 'timer:parameters' });
  // One for each mode, which believe different servers.
  const apis = new Map<Mode, ReturnType<typeof createMunicipalParameters>>();
  for (const mode of asked) {
    const address = addressOf(mode) ?? '';
    const trustRootsPem = await trustRoots(config, simulator, mode);
    const addresses = { live: address, test: address };
    apis.set(mode, createMunicipalParameters({ addresses, trustRootsPem, timeoutMs: CALL_TIMEOUT_MS, certificateOf }));
  }
  const ask: MunicipalParametersApi['ask'] = async (caller, ...question) =>
    (await apis.get(caller.mode)?.ask(caller, ...question)) ?? { kind: 'no_proof', reason: 'no_address' };
  const session = leaderSession(engines.pool);
  const wanted = shortCache(WANTED_MS, clock, async () =>
    wantedOf({ ...companiesOf(parts), modes: asked }, clock.now()),
  );
  await runParametersRefresher({
    ...{ api: { ask }, clock, signal, modes: asked },
    cache: createParametersCache(engines.pool),
    wanted: () => wanted('all'),
    tryLead: lastingLead(session, 'municipal-parameters', signal),
    onAnswer: (mode, outcome, reason) => {
      metrics.parametersAsked(mode, outcome);
      if (reason !== undefined) logger.info({ msg: 'the municipal parameters API told nothing', mode, reason });
    },
    onFault: (error) => logger.warn({ msg: 'refreshing municipal parameters failed', ...faultFields(error) }),
  });
  for (const api of apis.values()) api.close();
  await session.close();
};

const companiesOf = ({ engines, clock }: Pick<Parts, 'engines' | 'clock'>) => ({
  companies: async () =>
    (await engines.readModel.companies()).flatMap((company) =>
      company.kind === 'company' ? [{ companyId: company.registration.cnpj, company }] : [],
    ),
  ibgeOf: (city: string, state: string) => municipalityByName(city, state)?.ibge,
  catalogueOf: companyCatalogue(engines, clock),
});
