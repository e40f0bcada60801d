import { epochMs } from '../../domain/shared/time.js';
import { isMei, isProviderEmitter } from './facts.js';
import type { Rule } from './rule.js';

/** Identifier, environment, dates, series and convênio (annex I, group infDPS). */
export const infDPSRules: readonly Rule[] = [
  { code: 'E0004', broken: ({ dps }) => dps.id !== dps.derivedId },
  { code: 'E0006', broken: ({ dps, tpAmb }) => dps.text('tpAmb') !== tpAmb },
  { code: 'E0008', broken: ({ dps, now }) => epochMs(dps.text('dhEmi') ?? '') > epochMs(now) },
  { code: 'E0010', broken: ({ dps }) => !isOwnSoftwareSeries(Number(dps.text('serie'))) },
  { code: 'E0015', broken: ({ dps }) => dps.competence > (dps.text('dhEmi') ?? '').slice(0, 10) },
  {
    code: 'E0016',
    broken: (context) => !isMei(context) && isEarly(context.dps.competence, context.municipality.adherentSince),
  },
  { code: 'E0018', broken: ({ dps, company }) => isEarly(dps.competence, company.since) },
  {
    code: 'E0020',
    broken: ({ dps, registers }) => isEarly(dps.competence, registers.person(dps.text('prest/CPF') ?? '').since),
  },
  { code: 'E0023', broken: ({ dps, company }) => isEarly(dps.competence, company.cnc?.since) },
  { code: 'E0025', broken: ({ dps, company }) => isEarly(dps.competence, company.cnc?.emitterSince) },
  { code: 'E9996', broken: (context) => !isProviderEmitter(context) },
  { code: 'E0029', broken: (context) => isProviderEmitter(context) && context.dps.has('cMotivoEmisTI') },
  {
    code: 'E0037',
    broken: (context) => !isMei(context) && context.tables.municipality(context.dps.municipality) === undefined,
  },
  { code: 'E0038', broken: (context) => !isMei(context) && context.municipality.adherent === false },
  {
    code: 'E0039',
    broken: (context) =>
      !isMei(context) && context.municipality.adherent !== false && context.municipality.nationalEmitter === false,
  },
  {
    code: 'E0041',
    broken: (context) => {
      const { municipality } = context.company;
      return isMei(context) && municipality !== undefined && municipality !== context.dps.municipality;
    },
  },
];

/** Series from 50000 on belong to mobile, web portal and manual transcription (docs/national-system.md#series-and-numbers). */
const isOwnSoftwareSeries = (series: number): boolean => series >= 1 && series <= 49_999;

const isEarly = (date: string, first: string | undefined): boolean => first !== undefined && date < first;
