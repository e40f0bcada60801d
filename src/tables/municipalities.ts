import { nearestName } from '../domain/common/nearest-name.js';
import { grouped, lazy, lazyByKey, readTable } from './tsv.js';

type Municipality = { ibge: string; name: string; uf: string };

const rows = lazy(() => readTable('municipalities.tsv', ['ibge', 'name', 'uf', 'alternative_names']));

const byCode = lazy(() => new Map(rows().map(({ ibge, name, uf }) => [ibge, { ibge, name, uf }])));

const byState = lazy(() => grouped(rows(), 'uf'));

/** The IBGE codes of a state by name; the names of all states would take a part of a start. */
const codesByName = lazyByKey((state): ReadonlyMap<string, string> | undefined => {
  const ofState = byState().get(state);
  if (ofState === undefined) return undefined;
  const codes = new Map<string, string>();
  for (const { ibge, name, alternative_names } of ofState) {
    for (const one of [...alternative_names.split(';'), name]) if (one !== '') codes.set(nameText(one), ibge);
  }
  return codes;
});

export const municipalityByCode = (ibge: string): Municipality | undefined => byCode().get(ibge);

/** City and state as a company file spells them, without regard to accents and case. */
export const municipalityByName = (city: string, uf: string): Municipality | undefined =>
  municipalityByCode(codesByName(uf.toUpperCase())?.get(nameText(city)) ?? '');

/** The IBGE code of the same. */
export const municipalityCode = (city: string, uf: string): string | undefined => municipalityByName(city, uf)?.ibge;

/** The municipality that a misspelt city or state probably means: of the state the nearest name, else the nearest of all. */
export const nearestMunicipality = (city: string, uf: string): Municipality | undefined => {
  const sent = nameText(city);
  const ofState = byState().get(uf.toUpperCase()) ?? [];
  const found =
    codeNearest(sent, ofState) ?? rows().find(({ name }) => nameText(name) === sent)?.ibge ?? codeNearest(sent, rows());
  return municipalityByCode(found ?? '');
};

const codeNearest = (sent: string, among: readonly Municipality[]): string | undefined => {
  const codes = new Map(among.map(({ ibge, name }) => [nameText(name), ibge]));
  return codes.get(nearestName(sent, [...codes.keys()]) ?? '');
};

const nameText = (city: string): string =>
  city
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toUpperCase();
