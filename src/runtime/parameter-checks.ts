import type { Check } from '../cli/session.js';
import { ageSeconds, STALE_SECONDS } from '../domain/municipality/parameters.js';
import type { Clock } from '../ports/clock.js';
import type { ParametersCache, ParametersEntry } from '../ports/municipal-parameters.js';

/**
 * Whether the convênios that are kept are young. A municipality of which nothing was ever told is no fault: unknown is treated as
 * before the API was asked, and a municipality that does not issue nationally is told, for its notes will be refused.
 */
export const parametersCheck = async (cache: Pick<ParametersCache, 'all'>, clock: Clock): Promise<Check> => {
  const convenios = (await cache.all()).filter(({ place }) => place === 'convenio');
  const now = clock.now();
  const ages = convenios.flatMap(({ toldAt }) => (toldAt === undefined ? [] : [ageSeconds(toldAt, now)]));
  const oldest = Math.max(0, ...ages);
  const unanswered = convenios.filter(({ told }) => told === undefined);
  const without = convenios.filter(isWithoutEmitter).map(({ mode, ibge }) => `${ibge} (${mode})`);
  const ok = oldest <= STALE_SECONDS;
  const detail = [
    `${ages.length} convênios known, the oldest answer ${Math.floor(oldest / 3600)} h old`,
    ...(unanswered.length === 0 ? [] : [`${unanswered.length} never answered (${reasonsOf(unanswered)})`]),
    ...(without.length === 0 ? [] : [`no national emitter in ${without.join(', ')}: notes there are refused`]),
  ].join('; ');
  const cure = 'docs/operations/monitoring.md, NfseMunicipalParametersStale';
  return { name: 'municipal parameters', ok, detail, ...(ok ? {} : { cure }) };
};

const isWithoutEmitter = ({ told }: ParametersEntry): boolean =>
  told?.kind === 'convenio' && (!told.isActive || told.nationalEmitter === false);

const reasonsOf = (entries: readonly ParametersEntry[]): string =>
  [...new Set(entries.map(({ reason }) => reason ?? 'not asked'))].sort().join(', ');
