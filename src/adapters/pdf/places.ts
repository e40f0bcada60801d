import { readFileSync } from 'node:fs';

export type Place = { name: string; uf: string };

/** The municipality of a 7-digit IBGE code; undefined for a code that IBGE does not know. */
export const placeOf = (ibgeCode: string | undefined): Place | undefined =>
  ibgeCode === undefined ? undefined : places.get(ibgeCode);

const readPlaces = (): ReadonlyMap<string, Place> => {
  const lines = readFileSync(new URL('./municipalities.tsv', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1);
  return new Map(
    lines.map((line) => {
      const [code = '', name = '', uf = ''] = line.split('\t');
      return [code, { name, uf }];
    }),
  );
};

const places = readPlaces();
