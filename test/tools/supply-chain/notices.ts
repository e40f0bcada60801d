import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../root.js';
import { STATED } from './licences.js';
import { isForOnePlatform, type Lock, type LockedPackage, productionPackages } from './lock.js';
import { SHIPPED, type Shipped } from './shipped.js';

const HEAD = `Third-party notices

What the service consists of beside its own code: the packages that a production install brings, on any platform, and
work of others that they or this repository carry. The whole text of a package's licence stands in its own folder.
Made by "npm run sbom".
`;

/** The text of THIRD-PARTY-NOTICES. Throws when the holder of the rights in a package is not known. */
export const thirdPartyNotices = (lock: Lock): string => {
  const packages = productionPackages(lock);
  const parts = new Set([...packages.map((found) => noticeOf(found, packages)), ...SHIPPED.map(noticeOfShipped)]);
  return [HEAD, ...[...parts].sort()].join('\n');
};

export const licenceOf = ({ name, version, entry }: LockedPackage): string => {
  const licence = entry.license ?? STATED[`${name}@${version}`]?.licence;
  if (licence === undefined)
    throw new Error(`${name}@${version} states no licence: read its files, and add it to STATED`);
  return licence;
};

const noticeOf = (found: LockedPackage, packages: readonly LockedPackage[]): string =>
  notice(found.name, found.version, licenceOf(found), rightsOf(found, packages));

const noticeOfShipped = ({ name, version, licence, copyright, from }: Shipped): string =>
  notice(name, version, 'id' in licence ? licence.id : licence.name, [
    ...copyright,
    'files' in from ? `In ${from.files.join(', ')}` : `In ${from.package}`,
  ]);

const notice = (name: string, version: string | undefined, licence: string, lines: readonly string[]): string =>
  [[name, version].filter(Boolean).join(' '), `Licence: ${licence}`, ...lines].join('\n    ').concat('\n');

const rightsOf = (found: LockedPackage, packages: readonly LockedPackage[]): readonly string[] => {
  const stated = STATED[`${found.name}@${found.version}`]?.copyright ?? [];
  if (stated.length > 0) return stated;
  // Binaries of other platforms are not installed here; they come from the package that asks for them.
  const source = isForOnePlatform(found)
    ? packages.find(({ entry }) => entry.optionalDependencies?.[found.name])
    : found;
  const folder = join(ROOT, source?.path ?? found.path);
  if (source === undefined || !existsSync(folder))
    throw new Error(`${found.path} is not installed: run npm ci, or add it to STATED`);
  const lines = linesOf(folder);
  return lines.length > 0 ? lines : [`No copyright line; author: ${authorOf(folder)}`];
};

const LICENCE_FILE = /^(?:licen[cs]e|copying|copyright|unlicense|notice)/i;
const CLAIM = /^(?:portions )?(?:copyright\s+\S|\(c\) \d|© )/i;
/** Sentences of the licence texts, and names in the text of a licence itself. */
const NO_CLAIM =
  /copyright (?:notice|holder|owner|licen[cs]e|statement|interest|law|and|or|in it)|[[{]yyyy|free software foundation/i;

const linesOf = (folder: string): readonly string[] => {
  const files = readdirSync(folder)
    .filter((name) => LICENCE_FILE.test(name))
    .sort();
  const found = files.flatMap((name) => {
    const lines = readFileSync(join(folder, name), 'utf8')
      .split(/\r?\n/)
      .map((line) => line.replace(/^[\s*#/-]+/, '').trim())
      .filter((line) => line !== '');
    // A NOTICE has to be handed on whole.
    return /^notice/i.test(name) ? lines : lines.filter((line) => CLAIM.test(line) && !NO_CLAIM.test(line));
  });
  return [...new Set(found)];
};

const authorOf = (folder: string): string => {
  const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    author?: string | { name: string };
  };
  const name = typeof author === 'object' ? author.name : author;
  if (name === undefined) throw new Error(`${folder} says nowhere who made it: add it to STATED`);
  return name;
};
