import { municipalityByCode } from '../../tables/municipalities.js';

export type Place = { name: string; uf: string };

/** The municipality of a 7-digit IBGE code; undefined for a code that IBGE does not know. */
export const placeOf = (ibgeCode: string | undefined): Place | undefined =>
  ibgeCode === undefined ? undefined : municipalityByCode(ibgeCode);
