import { nearestName } from '../domain/common/nearest-name.js';
import { grouped, lazy, lazyByKey, readTable } from './tsv.js';

type Municipality = { ibge: string; name: string; uf: string };

const rows = lazy(() => readTable('municipalities.tsv', ['ibge', 'name', 'uf', 'alternative_names']));

const byCode = lazy(() => new Map(rows().map(({ ibge, name, uf }) => [ibge, { ibge, name, uf }])));

const byState = lazy(() => grouped(rows(), 'uf'));

/** The municipalities of a state by name; the names of all states would take a part of a start. */
const namesOf = lazyByKey((state): ReadonlyMap<string, Municipality> | undefined => {
  const ofState = byState().get(state);
  if (ofState === undefined) return undefined;
  const names = new Map<string, Municipality>();
  for (const { ibge, name, uf, alternative_names } of ofState) {
    for (const one of [...alternative_names.split(';'), name])
      if (one !== '') names.set(nameText(one), { ibge, name, uf });
  }
  return names;
});

export const municipalityByCode = (ibge: string): Municipality | undefined => byCode().get(ibge);

/** City and state as a company file spells them, without regard to accents and case. */
export const municipalityByName = (city: string, uf: string): Municipality | undefined =>
  namesOf(uf.toUpperCase())?.get(nameText(city));

/** The municipality that a misspelt city or state probably means: of the state the nearest name, else the nearest of all. */
export const nearestMunicipality = (city: string, uf: string): Municipality | undefined => {
  const sent = nameText(city);
  const ofState = byState().get(uf.toUpperCase()) ?? [];
  const found =
    rowNearest(sent, ofState) ?? rows().find(({ name }) => nameText(name) === sent) ?? rowNearest(sent, rows());
  return found && { ibge: found.ibge, name: found.name, uf: found.uf };
};

const rowNearest = <T extends Municipality>(sent: string, among: readonly T[]): T | undefined => {
  const byText = new Map(among.map((row) => [nameText(row.name), row]));
  return byText.get(nearestName(sent, [...byText.keys()]) ?? '');
};

const nameText = (city: string): string =>
  city
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toUpperCase();
