import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isForOnePlatform, type Lock, lockedPackages, type Manifest, productionPackages } from './lock.js';
import { licenceOf } from './notices.js';
import { SHIPPED, type Shipped } from './shipped.js';

type Licences = readonly ({ license: { id: string } | { name: string } } | { expression: string })[];

type Component = {
  'bom-ref': string;
  type: string;
  name: string;
  version?: string;
  scope?: string;
  purl?: string;
  hashes?: readonly { alg: string; content: string }[];
  licenses?: Licences;
};

type Bom = {
  specVersion: string;
  metadata: { component: Component };
  components: readonly Component[];
  dependencies: readonly { ref: string; dependsOn: readonly string[] }[];
};

/** The CycloneDX document of a production install on any platform. The same lock file gives the same text everywhere. */
export const billOfMaterials = (lock: Lock, manifest: Manifest): string => {
  const bom = askNpm(lock, manifest);
  const packages = new Map(productionPackages(lock).map((found) => [`${found.name}@${found.version}`, found]));
  // npm 10 lists a package once for each place it lies at, npm 11 once.
  const listed = new Map(bom.components.map((component) => [component['bom-ref'], component]));
  const components = [...listed.values()].map((component): Component => {
    const found = packages.get(component['bom-ref']);
    if (found === undefined) throw new Error(`npm lists ${component['bom-ref']}, which is not in the production tree`);
    const licenses: Licences = component.licenses ?? [{ license: { id: licenceOf(found) } }];
    return { ...plain(component), scope: isForOnePlatform(found) ? 'optional' : 'required', licenses };
  });
  if (components.length !== packages.size)
    throw new Error(`npm lists ${components.length} of ${packages.size} packages`);
  const { name, version, description } = manifest;
  const root = { 'bom-ref': `${name}@${version}`, type: 'application', name, version, description };
  const document = {
    $schema: `http://cyclonedx.org/schema/bom-${bom.specVersion}.schema.json`,
    bomFormat: 'CycloneDX',
    specVersion: bom.specVersion,
    version: 1,
    metadata: { lifecycles: [{ phase: 'pre-build' }], component: root },
    components: [...components, ...SHIPPED.map(shippedComponent)].sort(byRef((component) => component['bom-ref'])),
    dependencies: [...new Map(bom.dependencies.map((each) => [each.ref, each])).values()]
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: [...dependsOn].sort() }))
      .sort(byRef(({ ref }) => ref)),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
};

/** Without what differs from run to run and from npm to npm. */
const plain = ({ 'bom-ref': ref, type, name, version, purl, hashes }: Component): Component => ({
  'bom-ref': ref,
  type,
  name,
  ...(version === undefined ? {} : { version }),
  ...(purl === undefined ? {} : { purl }),
  ...(hashes === undefined ? {} : { hashes }),
});

const shippedComponent = ({ name, version, licence, from }: Shipped): Component => ({
  'bom-ref': `${'files' in from ? 'repository' : from.package}#${name}`,
  type: 'files' in from ? 'file' : 'library',
  name,
  ...(version === undefined ? {} : { version }),
  scope: 'required',
  licenses: [{ license: licence }],
});

/**
 * npm is given a lock file that holds the production tree alone: `npm sbom --omit=dev` leaves out whatever a development package
 * needs too (with npm 10 and 11 some forty packages, tsx and debug among them).
 */
const askNpm = (lock: Lock, manifest: Manifest): Bom => {
  const folder = mkdtempSync(join(tmpdir(), 'nfse-sbom-'));
  try {
    const kept = new Set(productionPackages(lock).map(({ path }) => path));
    const left = new Set(lockedPackages(lock).map(({ path }) => path));
    const entries = Object.entries(lock.packages).filter(([path]) => kept.has(path) || !left.has(path));
    const packages = entries.map(([path, entry]) => [
      path,
      path === '' ? { ...entry, devDependencies: undefined } : entry,
    ]);
    const files = {
      'package.json': { ...manifest, devDependencies: undefined },
      'package-lock.json': { ...lock, packages: Object.fromEntries(packages) as unknown },
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
    // Each kind is named, because a production environment or a user's npmrc would leave some out.
    const include = ['prod', 'dev', 'optional', 'peer'].map((kind) => `--include=${kind}`);
    // The level is named, because `npm run -s` hands its own down and npm would give no reason then.
    const options = ['--sbom-format=cyclonedx', '--package-lock-only', '--loglevel=error', ...include];
    const output = execFileSync('npm', ['sbom', ...options], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(output) as Bom;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const byRef =
  <Item>(refOf: (item: Item) => string) =>
  (a: Item, b: Item): number =>
    refOf(a) < refOf(b) ? -1 : 1;
