import { createMunicipalParameters } from '../../adapters/authorizer/parameters.js';
import { createParametersCache } from '../../adapters/municipal-parameters/cache.js';
import { createCertificateRefusals } from '../../adapters/read-model-postgres/certificate-refusals.js';
import { lastingLead, leaderSession } from '../../adapters/sql/leader-lock.js';
import { wantedOf } from '../../app/municipal-parameters/wanted.js';
import { modes } from '../../domain/common/ids.js';
import { shortCache } from '../../lib/short-cache.js';
import { municipalityCode } from '../../tables/municipalities.js';
import { PAUSES, runParametersRefresher } from '../../workers/parameters-refresher.js';
import { createFaultLines } from '../config/fault-lines.js';
import { adnAddress } from '../engines/authorizers.js';
import { certificatesOf } from '../engines/companies.js';
import { adnClients } from './adn-clients.js';
import { companyCatalogue } from './eligibility-facts.js';
import type { Parts } from './parts.js';

/** Milliseconds for which a read of the registered companies serves. The refresher asks for it again within a minute, sooner where there are few. */
const WANTED_MS = 15_000;

/** Refreshes the municipal parameters of this process's modes until the signal aborts; no request waits for it. */
export const runParametersRefresh = async (parts: Parts, signal: AbortSignal): Promise<void> => {
  const { config, clock, engines, logger, metrics, simulator } = parts;
  const asked = modes.filter((mode) => adnAddress(config, simulator, mode, 'parametrizacao') !== undefined);
  if (asked.length === 0) return;
  const certificateOf = certificatesOf(parts, 'timer:parameters');
  const clients = adnClients(createMunicipalParameters, 'parametrizacao', asked, parts, certificateOf);
  const session = leaderSession(engines.pool);
  const refusals = createCertificateRefusals(engines.pool).all;
  const wanted = shortCache(WANTED_MS, clock, async () =>
    wantedOf({ ...companiesOf(parts), refusals, modes: asked }, clock.now()),
  );
  await runParametersRefresher({
    api: {
      ask: async (caller, ...question) =>
        (await clients.get(caller.mode)?.ask(caller, ...question)) ?? { kind: 'no_proof', reason: 'no_address' },
    },
    clock,
    signal,
    modes: asked,
    cache: createParametersCache(engines.pool),
    wanted: () => wanted('all'),
    tryLead: lastingLead(session, 'municipal-parameters', signal).take,
    onAnswer: (mode, outcome, reason) => {
      metrics.parametersAsked(mode, outcome);
      if (reason !== undefined)
        logger.info({ msg: 'the municipal parameters API gave no usable answer', mode, reason });
    },
    onFault: createFaultLines({ logger, msg: 'refreshing municipal parameters failed', everyMs: PAUSES.idle }).tell,
  });
  for (const client of clients.values()) client.close();
  await session.close();
};

const companiesOf = ({ engines, clock }: Pick<Parts, 'engines' | 'clock'>) => ({
  companies: async () =>
    (await engines.readModel.companies()).map((company) => ({ companyId: company.registration.cnpj, company })),
  ibgeOf: municipalityCode,
  catalogueOf: companyCatalogue(engines, clock),
});
