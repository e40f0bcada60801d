import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';
import { supplyChainFiles } from '../tools/supply-chain/files.js';
import { ALLOWED, usableLicences } from '../tools/supply-chain/licences.js';
import { lockedPackages, productionPackages, readLock, readManifest } from '../tools/supply-chain/lock.js';
import { licenceOf, thirdPartyNotices } from '../tools/supply-chain/notices.js';
import { billOfMaterials } from '../tools/supply-chain/sbom.js';
import { SHIPPED } from '../tools/supply-chain/shipped.js';

type Bom = { components: readonly { 'bom-ref': string; licenses?: unknown }[] };

const lock = readLock();
const manifest = readManifest();
const production = productionPackages(lock);

describe('the bill of materials and the notices', () => {
  let made: Readonly<Record<string, string>> = {};
  beforeAll(() => {
    made = supplyChainFiles();
  });

  it('are those of package-lock.json; if not: npm run sbom', () => {
    expect(Object.keys(made)).toHaveLength(2);
    for (const [path, text] of Object.entries(made)) {
      expect(readFileSync(join(ROOT, path), 'utf8') === text, `${path} is not what npm run sbom makes`).toBe(true);
    }
  });

  it('name every production package of every platform, with its licence, and nothing that changes from run to run', () => {
    const text = made['docs/supply-chain/sbom.cdx.json'] ?? '';
    const { components } = JSON.parse(text) as Bom;
    const refs = components.map((component) => component['bom-ref']);
    expect(refs).toEqual(expect.arrayContaining(production.map(({ name, version }) => `${name}@${version}`)));
    // Development packages need these too, which makes npm sbom --omit=dev leave them out.
    for (const name of ['debug', 'pg-types']) expect(refs.some((ref) => ref.startsWith(`${name}@`))).toBe(true);
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([]);
    expect(text).not.toMatch(/"(?:timestamp|serialNumber|cdx:npm:package:path)"/);
    expect(text).not.toContain(ROOT);
  });

  it('follow the lock file: a package that is missed or has no licence is a fault, not a gap', () => {
    const path = 'node_modules/hono';
    const { [path]: hono, ...rest } = lock.packages;
    const updated = { ...lock, packages: { ...rest, [path]: { ...hono, version: '4.999.0' } } };
    expect(thirdPartyNotices(updated)).toContain('\nhono 4.999.0\n');
    // npm itself refuses a lock file that does not fit together, here one that lacks a package that is asked for.
    expect(() => billOfMaterials({ ...lock, packages: rest }, manifest)).toThrow(/missing: hono/);
    const unknown = { ...lock, packages: { ...lock.packages, 'node_modules/unheard-of': { version: '1.0.0' } } };
    expect(() => thirdPartyNotices(unknown)).toThrow('unheard-of@1.0.0 states no licence');
    const absent = {
      ...lock,
      packages: { ...lock.packages, 'node_modules/unheard-of': { version: '1.0.0', license: 'MIT' } },
    };
    expect(() => thirdPartyNotices(absent)).toThrow('node_modules/unheard-of is not installed');
  });
});

describe('licences', () => {
  it('of all that ships are allowed', () => {
    const refused = production.filter((found) => usableLicences(licenceOf(found)) === undefined);
    expect(refused.map((found) => `${found.name}: ${licenceOf(found)}`)).toEqual([]);
    const ids = SHIPPED.flatMap(({ licence }) => ('id' in licence ? [licence.id] : []));
    expect(ids.filter((id) => usableLicences(id) === undefined)).toEqual([]);
  });

  it.each([
    ['MIT', ['MIT']],
    ['(MIT AND Zlib)', ['MIT', 'Zlib']],
    ['(BSD-3-Clause OR GPL-2.0)', ['BSD-3-Clause']],
    ['GPL-3.0-only', undefined],
    ['(MIT AND GPL-2.0)', undefined],
    ['(GPL-2.0 OR AGPL-3.0)', undefined],
    ['(MIT OR GPL-2.0) AND AGPL-3.0', undefined],
    ['SEE LICENSE IN LICENSE.md', undefined],
    ['UNLICENSED', undefined],
    ['', undefined],
    ['constructor', undefined],
  ])('%s: %j', (expression, usable) => expect(usableLicences(expression)).toEqual(usable));

  it('each stand in the docs', () => {
    const page = readFileSync(join(ROOT, 'docs/supply-chain/README.md'), 'utf8');
    expect(Object.keys(ALLOWED).filter((id) => !page.includes(`| ${id} |`))).toEqual([]);
  });
});

describe('the work of others in this repository', () => {
  const isOurs =
    /\.(?:ts|mts|tsx|css|js|mjs|sql|md)$|^src\/adapters\/pdf\/fonts\/LICENSE\.txt$|^src\/adapters\/sql\/expected-schema\.txt$/;

  it('is named file by file', () => {
    const listed = SHIPPED.flatMap(({ from }) => ('files' in from ? from.files : []));
    const files = ['src', 'projections'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length)),
    );
    const foreign = files.filter((path) => !isOurs.test(path));
    expect(
      foreign.filter((path) => !listed.some((from) => path === from || (from.endsWith('/') && path.startsWith(from)))),
    ).toEqual([]);
    expect(listed.filter((from) => !files.some((path) => path.startsWith(from)))).toEqual([]);
  });

  it('that a package carries was looked into in the version that is installed', () => {
    const installed = new Set(lockedPackages(lock).map(({ name, version }) => `${name}@${version}`));
    const carriers = SHIPPED.flatMap(({ from }) => ('package' in from ? [from.package] : []));
    expect(carriers.filter((carrier) => !installed.has(carrier))).toEqual([]);
  });
});
