import { epochMs } from '../../domain/shared/time.js';
import { isMei, type Rule } from './rule.js';

/** Identifier, environment, dates, series and convênio (annex I, groups infDPS and cLocEmi). */
export const identificationRules: readonly Rule[] = [
  { code: 'E0004', broken: ({ dps }) => dps.id !== dps.derivedId },
  { code: 'E0006', broken: ({ dps, tpAmb }) => dps.text('tpAmb') !== tpAmb },
  { code: 'E0008', broken: ({ dps, now }) => epochMs(dps.text('dhEmi') ?? '') > epochMs(now) },
  { code: 'E0010', broken: ({ dps }) => !isOwnSoftwareSeries(Number(dps.text('serie'))) },
  { code: 'E0015', broken: ({ dps }) => (dps.text('dCompet') ?? '') > (dps.text('dhEmi') ?? '').slice(0, 10) },
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
];

/** 50000 and up belong to mobile, web portal and manual transcription. */
const isOwnSoftwareSeries = (series: number): boolean => series >= 1 && series <= 49_999;
