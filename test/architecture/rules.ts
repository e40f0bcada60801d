import { importsOf, type SourceFile, withoutComments } from './imports.js';

/** What an area may import: areas of this repository, and packages. An area is a folder, or a file. */
type Allowance = { areas: readonly string[]; packages: readonly RegExp[] };

const node = (...modules: readonly string[]): RegExp => new RegExp(`^node:(?:${modules.join('|')})$`);
const anyNode = /^node:/;

/** Design section 2; the longest area that holds a file decides. An exception stands with its reason. */
const allowances: Readonly<Record<string, Allowance>> = {
  'src/domain': { areas: ['src/domain'], packages: [] },
  'src/ports': { areas: ['src/domain', 'src/ports'], packages: [] },
  'src/app': {
    // A use case may be one of many that take turns; how long it waits is not its own to say.
    areas: ['src/domain', 'src/ports', 'src/app', 'src/hashing', 'src/waiting/fair-gate'],
    packages: [node('crypto', 'zlib'), /^valibot$/],
  },
  'src/http': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/http'],
    packages: [anyNode, /^hono(?:\/|$)/, /^@hono\/node-server$/, /^valibot$/, /^@valibot\/to-json-schema$/],
  },
  // Pages for operators on the operations port; packages for pages only.
  'src/console': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/console'],
    packages: [node('crypto', 'fs'), /^hono(?:\/|$)/],
  },
  // The projection runner is given its projections; it knows only their type, and keeps their rows in R.
  'src/workers': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/waiting', 'src/workers', 'projections/types'],
    packages: [anyNode, /^pg$/],
  },
  'src/cli': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/cli'],
    packages: [anyNode, /^valibot$/],
  },
  projections: { areas: ['src/domain', 'src/ports', 'projections'], packages: [] },
  'src/xml': {
    areas: ['src/domain', 'src/hashing', 'src/xml'],
    packages: [anyNode, /^fast-xml-parser$/, /^libxml2-wasm(?:\/|$)/, /^xml-crypto$/],
  },
  // No rule of the business and nothing from outside: how long to wait, and how to stop waiting.
  'src/hashing': { areas: ['src/hashing'], packages: [node('crypto')] },
  'src/waiting': { areas: ['src/waiting'], packages: [node('timers/promises')] },
  'src/tables': { areas: ['src/domain', 'src/tables'], packages: [anyNode] },
  'src/certificates': { areas: ['src/domain', 'src/certificates'], packages: [anyNode, /^node-forge$/] },
  'src/simulator': {
    areas: ['src/domain/shared', 'src/xml', 'src/certificates', 'src/simulator'],
    packages: [anyNode],
  },
};

const ADAPTER_MAY = [
  ...['src/ports', 'src/domain', 'src/hashing', 'src/waiting', 'src/xml', 'src/tables', 'src/certificates'],
  'src/adapters/sql',
];
const MAY_IMPORT_EVERYTHING = ['src/runtime', 'src/main.ts'];

const MAX_LINES = 250;

const isIn = (path: string, area: string): boolean =>
  path === area || path.startsWith(`${area}/`) || path.replace(/\.[mc]?[jt]s$/, '') === area;

const adapterOf = (path: string): string | undefined => /^src\/adapters\/[^/]+/.exec(path)?.[0];

const allowanceOf = (path: string): Allowance | undefined => {
  const adapter = adapterOf(path);
  if (adapter !== undefined) return { areas: [...ADAPTER_MAY, adapter], packages: [/./] };
  const area = Object.keys(allowances).find((candidate) => isIn(path, candidate));
  return area === undefined ? undefined : allowances[area];
};

/** Clock, chance and surroundings; a pure domain is given them. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bcrypto\b|\bprocess\s*[.[]|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\b|\bfetch\(/;

/** One line for each breach of the dependency rule or of the shape of files; empty is good. */
export const breachesOf = (file: SourceFile): readonly string[] => [
  ...importBreaches(file),
  ...shapeBreaches(file).map((what) => `${file.path}: ${what}`),
];

const importBreaches = (file: SourceFile): readonly string[] => {
  if (MAY_IMPORT_EVERYTHING.some((area) => isIn(file.path, area))) return [];
  const allowance = allowanceOf(file.path);
  if (allowance === undefined) return [`${file.path}: belongs to no area of the design`];
  return importsOf(file)
    .filter((target) => {
      const isLocal = target.startsWith('src/') || target.startsWith('projections/');
      return isLocal
        ? !allowance.areas.some((area) => isIn(target, area))
        : !allowance.packages.some((pattern) => pattern.test(target));
    })
    .map((target) => `${file.path}: must not import ${target}`);
};

const shapeBreaches = ({ path, text }: SourceFile): readonly string[] => {
  const code = withoutComments(text);
  const lines = text.trimEnd().split('\n').length;
  return [
    ...(isIn(path, 'src/domain') && IMPURE.test(code) ? [`is not pure: ${IMPURE.exec(code)?.[0]}`] : []),
    ...(/\bexport\s+default\b|\bas\s+default\b/.test(code) ? ['has a default export'] : []),
    ...(/\bexport\s+(?:type\s+)?\*/.test(code) ? ['re-exports everything of another file'] : []),
    ...(lines > MAX_LINES ? [`has ${lines} lines`] : []),
  ];
};
