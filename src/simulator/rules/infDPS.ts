import { epochMs } from '../../domain/common/time.js';
import { isMei, isProviderEmitter } from './facts.js';
import type { Rules } from './rule.js';

/** Identifier, environment, dates, series and convênio (annex I, group infDPS). */
export const infDPSRules: Rules = {
  E0004: ({ dps }) => dps.emitter !== '' && dps.id !== dps.derivedId,
  E0006: ({ dps, tpAmb }) => dps.text('tpAmb') !== tpAmb,
  E0008: ({ dps, now }) => epochMs(dps.text('dhEmi') ?? '') > epochMs(now),
  E0010: ({ dps }) => !isOwnSoftwareSeries(Number(dps.text('serie'))),
  E0015: ({ dps }) => dps.competence > (dps.text('dhEmi') ?? '').slice(0, 10),
  E0016: (context) => !isMei(context) && isEarly(context.dps.competence, context.municipality.adherentSince),
  E0018: ({ dps, company }) => isEarly(dps.competence, company.since),
  E0020: ({ dps, registers }) => isEarly(dps.competence, registers.person(dps.text('prest/CPF') ?? '').since),
  E0023: ({ dps, company }) => isEarly(dps.competence, company.cnc?.since),
  E0025: ({ dps, company }) => isEarly(dps.competence, company.cnc?.emitterSince),
  E9996: (context) => !isProviderEmitter(context),
  E0029: (context) => isProviderEmitter(context) && context.dps.has('cMotivoEmisTI'),
  E0037: (context) => !isMei(context) && context.tables.municipality(context.dps.municipality) === undefined,
  E0038: (context) => !isMei(context) && context.municipality.adherent === false,
  E0039: (context) =>
    !isMei(context) && context.municipality.adherent !== false && context.municipality.nationalEmitter === false,
  E0041: (context) => {
    const { municipality } = context.company;
    return isMei(context) && municipality !== undefined && municipality !== context.dps.municipality;
  },
};

/** Series from 50000 on belong to mobile, web portal and manual transcription (docs/national-system.md#series-and-numbers). */
const isOwnSoftwareSeries = (series: number): boolean => series >= 1 && series <= 49_999;

const isEarly = (date: string, first: string | undefined): boolean => first !== undefined && date < first;
