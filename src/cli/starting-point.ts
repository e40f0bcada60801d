import type { StartingPoint } from '../app/recovery/ask-series.js';
import { codePattern, withoutMask } from '../domain/common/masks.js';
import { MAX_DPS_NUMBER, MAX_SOFTWARE_SERIES } from '../domain/dps-number/dps-number.js';
import { municipalityByCode } from '../tables/municipalities.js';
import { noCnpjText } from './flags.js';

/** How a starting point is typed. */
export const STARTING_POINT = 'CNPJ:mode:series:number[:ibge]';

/** Reads a starting point of log recovery, such as `11444777000161:live:1:1000:3304557`. `problem` is one line for a person. */
export const readStartingPoint = (text: string): { point: StartingPoint } | { problem: string } => {
  const [cnpj = '', mode = '', series = '', number = '', ibge, ...rest] = text.split(':');
  const is = (problem: string): { problem: string } => ({ problem: `--from ${text}: ${problem}` });
  if (number === '' || rest.length > 0) return is(`it must be ${STARTING_POINT}, such as 11444777000161:live:1:1000`);
  if (!codePattern('cnpj').test(cnpj)) return is(noCnpjText(cnpj));
  if (mode !== 'live' && mode !== 'test') return is(`the mode must be live or test, not ${mode}`);
  if (!/^[1-9]\d{0,4}$/.test(series) || Number(series) > MAX_SOFTWARE_SERIES)
    return is(`the series must be from 1 to 49999 without leading zeros, not ${series}`);
  if (!/^[1-9]\d*$/.test(number) || Number(number) > MAX_DPS_NUMBER)
    return is(`the number must be from 1 to ${MAX_DPS_NUMBER}, not ${number}`);
  const point = { companyId: withoutMask(cnpj, 'cnpj'), mode, series, number: Number(number) } as const;
  if (ibge === undefined) return { point };
  return municipalityByCode(ibge) === undefined
    ? is(`no municipality has the IBGE code ${ibge}`)
    : { point: { ...point, municipality: ibge } };
};
