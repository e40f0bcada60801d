import type { FiscalDate, Instant } from '../shared/time.js';
import { epochMs } from '../shared/time.js';

/** In force from a day on, until another one where that is known. */
type InForce = { from: FiscalDate; until?: FiscalDate };

/**
 * What the national parameters API tells of a municipality in one environment, one answer each (domain.md section 15). A
 * flag that the answer did not hold is absent: nobody knows.
 */
export type ToldParameters =
  | { kind: 'convenio'; isActive: false }
  | {
      kind: 'convenio';
      isActive: true;
      /** `aderenteAmbienteNacional`: it shares documents, which says nothing of where they are issued. */
      sharesDocuments?: boolean;
      /** `aderenteEmissorNacional`: its companies issue through Sefin (else E0039). */
      nationalEmitter?: boolean;
      /** `situacaoEmissaoPadraoContribuintesRFB`: who is known by the CNPJ alone may issue, without an entry in CNC (E0084). */
      rfbContributors?: boolean;
    }
  /** `percent` with two places; no rates: it administers no such service (E0312). */
  | { kind: 'aliquota'; rates: readonly (InForce & { percent: string; incidence?: boolean })[] }
  | { kind: 'regimes_especiais'; regimes: readonly (InForce & { regime: string; situation: number })[] }
  /** `article6`: whoever article 6 of LC 116 names withholds; `municipal`: further rules by the municipality's own law. */
  | { kind: 'retencoes'; article6: boolean; municipal: number };

export type ParameterKind = ToldParameters['kind'];

/** One question to the API. `service` is dotted, nine digits: cTribNac and the municipal complement, `01.07.01.000`. */
export type ParameterQuestion =
  | { kind: 'convenio' }
  | { kind: 'retencoes' }
  | { kind: 'aliquota' | 'regimes_especiais'; service: string };

export const CONVENIO: ParameterQuestion = { kind: 'convenio' };

/** `01.07.01.000` of cTribNac `010701`; without municipal code the complement is `000`. */
export const dottedService = (serviceCode: string, municipalCode = '000'): string =>
  `${serviceCode.slice(0, 2)}.${serviceCode.slice(2, 4)}.${serviceCode.slice(4, 6)}.${municipalCode}`;

/** Where an answer is kept: one place per question, whatever day it was asked for. */
export const placeOfQuestion = (question: ParameterQuestion): string =>
  'service' in question ? `${question.kind}/${question.service}` : question.kind;

/** The last answer to one question, and when it was given. */
export type KeptParameters = { place: string; told: ToldParameters; toldAt: Instant };

/** An answer is asked for anew once a day. */
export const REFRESH_SECONDS = 86_400;

/** Older than this an operator is told: refreshing has failed for days. */
export const STALE_SECONDS = 3 * 86_400;

/** Older than this it decides nothing any more: the restricted environment's parameters are wiped and set anew. */
export const USED_SECONDS = 7 * 86_400;

/** Not negative, also where a clock was set back. */
export const ageSeconds = (toldAt: Instant, now: Instant): number =>
  Math.max(0, Math.floor((epochMs(now) - epochMs(toldAt)) / 1000));

/** The convênio as far as it may still be used; undefined: unknown, as if nobody had been asked. */
export const usableConvenio = (
  kept: readonly KeptParameters[],
  now: Instant,
): Extract<ToldParameters, { kind: 'convenio' }> | undefined => {
  for (const { told, toldAt } of kept) {
    if (told.kind === 'convenio' && ageSeconds(toldAt, now) <= USED_SECONDS) return told;
  }
  return undefined;
};
