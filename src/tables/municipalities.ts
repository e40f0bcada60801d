import { lazy, readTable } from './tsv.js';

type Municipality = { ibge: string; name: string; uf: string };

const rows = lazy(() => readTable('municipalities.tsv', ['ibge', 'name', 'uf', 'alternative_names']));

const byCode = lazy(() => new Map(rows().map(({ ibge, name, uf }) => [ibge, { ibge, name, uf }])));

const byName = lazy(() => {
  const names = new Map<string, Municipality>();
  for (const { ibge, name, uf, alternative_names } of rows()) {
    for (const one of [...alternative_names.split(';'), name])
      if (one !== '') names.set(nameKey(one, uf), { ibge, name, uf });
  }
  return names;
});

export const municipalityByCode = (ibge: string): Municipality | undefined => byCode().get(ibge);

/** City and state as a company file spells them, without regard to accents and case. */
export const municipalityByName = (city: string, uf: string): Municipality | undefined =>
  byName().get(nameKey(city, uf));

const nameKey = (city: string, uf: string): string =>
  `${city
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toUpperCase()}/${uf.toUpperCase()}`;
