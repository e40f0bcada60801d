import type { FiscalDate, Instant } from '../common/time.js';
import { epochMs } from '../common/time.js';

/** In force from a day on, and until another day where that is known. */
type InForce = { from: FiscalDate; until?: FiscalDate };

/**
 * One answer of the national parameters API about a municipality in one environment (docs/national-system.md#parameters-api). A flag that the
 * answer did not hold is absent and unknown.
 */
export type KnownParameters =
  | { kind: 'convenio'; isActive: false }
  | {
      kind: 'convenio';
      isActive: true;
      /** `aderenteAmbienteNacional`: the municipality shares documents, which does not say where they are issued. */
      sharesDocuments?: boolean;
      /** `aderenteEmissorNacional`: its companies issue through Sefin (otherwise E0039). */
      nationalEmitter?: boolean;
      /** `situacaoEmissaoPadraoContribuintesRFB`: companies known by the CNPJ alone may issue, without an entry in CNC (E0084). */
      rfbContributors?: boolean;
    }
  /** `percent` with two places. Without rates, the municipality does not administer this service (E0312). */
  | { kind: 'aliquota'; rates: readonly (InForce & { percent: string; incidence?: boolean })[] }
  | { kind: 'regimes_especiais'; regimes: readonly (InForce & { regime: string; situation: number })[] }
  /** `article6`: those whom article 6 of LC 116 names withhold the tax. `municipal`: number of further rules by municipal law. */
  | { kind: 'retencoes'; article6: boolean; municipal: number };

/** One question to the API. `service` is dotted, nine digits: cTribNac and the municipal complement, as in `01.07.01.000`. */
export type ParameterQuestion =
  | { kind: 'convenio' }
  | { kind: 'retencoes' }
  | { kind: 'aliquota' | 'regimes_especiais'; service: string };

export const CONVENIO: ParameterQuestion = { kind: 'convenio' };

/** `01.07.01.000` for cTribNac `010701`; without a municipal code the complement is `000`. */
export const dottedService = (serviceCode: string, municipalCode = '000'): string =>
  `${serviceCode.slice(0, 2)}.${serviceCode.slice(2, 4)}.${serviceCode.slice(4, 6)}.${municipalCode}`;

/** Key of a question's answer in the cache, the same for every day that was asked for. */
export const questionKeyOf = (question: ParameterQuestion): string =>
  'service' in question ? `${question.kind}/${question.service}` : question.kind;

/** The last answer to one question, and its instant. */
export type CachedParameters = { questionKey: string; known: KnownParameters; knownAt: Instant };

/** Age at which an answer is asked for again. */
export const REFRESH_SECONDS = 86_400;

/** Age at which an operator gets a notice: refreshing has failed for days. */
export const STALE_SECONDS = 3 * 86_400;

/** Age from which an answer decides nothing: the restricted environment's parameters are wiped and set again from time to time. */
export const USED_SECONDS = 7 * 86_400;

/** Age in seconds; 0 where a clock was set back. */
export const ageSeconds = (knownAt: Instant, now: Instant): number =>
  Math.max(0, Math.floor((epochMs(now) - epochMs(knownAt)) / 1000));

/** The convênio while it may be used; undefined when unknown or too old. */
export const usableConvenio = (
  kept: readonly CachedParameters[],
  now: Instant,
): Extract<KnownParameters, { kind: 'convenio' }> | undefined => {
  for (const { known, knownAt } of kept) {
    if (known.kind === 'convenio' && ageSeconds(knownAt, now) <= USED_SECONDS) return known;
  }
  return undefined;
};
