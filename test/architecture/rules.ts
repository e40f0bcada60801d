import { importsOf, type SourceFile, withoutComments } from './imports.js';

/** What an area may import: areas of this repository, and packages. An area is a folder, or a file. */
type Allowance = { areas: readonly string[]; packages: readonly RegExp[] };

const node = (...modules: readonly string[]): RegExp => new RegExp(`^node:(?:${modules.join('|')})$`);
const anyNode = /^node:/;

/** docs/architecture.md#layers. The longest area that holds a file decides; an exception is listed with its reason. */
const allowances: Readonly<Record<string, Allowance>> = {
  'src/domain': { areas: ['src/domain'], packages: [] },
  'src/ports': { areas: ['src/domain', 'src/ports'], packages: [] },
  'src/app': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/lib'],
    packages: [node('crypto', 'zlib'), /^lru-cache$/, /^valibot$/],
  },
  'src/http': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/http', 'src/lib/bound-chunks'],
    packages: [anyNode, /^hono(?:\/|$)/, /^@hono\/node-server$/, /^marked$/, /^valibot$/, /^@valibot\/to-json-schema$/],
  },
  // For programs of others: types of the bodies, and nothing that would be loaded (`dependencies.test.ts`).
  'src/client': {
    areas: ['src/http/body/issue-schema', 'src/http/body/cancel-schema', 'src/http/openapi/schemas', 'src/client'],
    packages: [/^valibot$/],
  },
  // Pages for operators on the operations port; packages for pages only.
  'src/console': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/lib', 'src/console'],
    packages: [node('crypto', 'fs'), /^hono(?:\/|$)/],
  },
  'src/workers': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/lib', 'src/workers'],
    packages: [anyNode],
  },
  // The projector is given its projections, knows only their type, and keeps their rows in the database.
  'src/projector': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/lib', 'src/projector', 'src/adapters/sql', 'projections/types'],
    packages: [/^pg$/],
  },
  'src/cli': {
    areas: ['src/domain', 'src/ports', 'src/app', 'src/lib', 'src/certificates', 'src/tables', 'src/cli'],
    packages: [anyNode, /^commander$/, /^valibot$/, /^@valibot\/to-json-schema$/],
  },
  projections: { areas: ['src/domain', 'src/ports', 'projections'], packages: [] },
  'src/xml': {
    areas: ['src/lib', 'src/xml'],
    packages: [anyNode, /^fast-xml-parser$/, /^lru-cache$/, /^libxml2-wasm(?:\/|$)/, /^xml-crypto$/],
  },
  // General helpers: nothing about invoices, and no engine.
  'src/lib': {
    areas: ['src/lib', 'src/ports/clock', 'src/domain/common/time'],
    packages: [node('crypto', 'fs/promises', 'path', 'timers/promises', 'worker_threads'), /^lru-cache$/],
  },
  'src/tables': { areas: ['src/domain', 'src/tables'], packages: [anyNode] },
  'src/certificates': {
    areas: ['src/domain', 'src/certificates'],
    packages: [anyNode, /^node-forge(\/lib\/asn1\.js)?$/],
  },
  // Runs before anything is built, and then what was built.
  'src/launch': { areas: ['src/launch'], packages: [anyNode, /^esbuild$/, /^tsx\/esm\/api$/, /^dist\/src\/main\.js$/] },
  'src/simulator': {
    areas: ['src/domain/common', 'src/lib/files', 'src/lib/error-code', 'src/xml', 'src/certificates', 'src/simulator'],
    packages: [anyNode, /^lru-cache$/, /^valibot$/],
  },
};

const ADAPTER_MAY = [
  'src/ports',
  'src/domain',
  'src/lib',
  'src/xml',
  'src/tables',
  'src/adapters/sql',
  // Only files `*.source.mjs`, which start a thread in development.
  'src/launch/from-source',
];
/** The projections define their rows, which this adapter reads. */
const adapterAreas: Readonly<Record<string, readonly string[]>> = {
  'src/adapters/read-model-postgres': ['projections'],
};

/** What a room of the composition may import: rooms, and surfaces. Other areas and packages are free, because the composition binds all of them. */
type Room = { rooms: readonly string[]; surfaces: readonly string[] };

/** Areas that only some rooms bind: who asks the service, what works in it, the simulator, and the client of the API. */
const SURFACES = ['src/cli', 'src/client', 'src/console', 'src/http', 'src/simulator', 'src/workers'];

/** docs/architecture.md#rooms-of-the-runtime. A room may import the rooms before it, as far as its list names them. */
const rooms: Readonly<Record<string, Room>> = {
  'src/runtime/config': { rooms: ['config'], surfaces: ['src/http'] },
  'src/runtime/engines': { rooms: ['config', 'engines'], surfaces: ['src/simulator'] },
  'src/runtime/metrics': { rooms: ['config', 'metrics'], surfaces: ['src/http'] },
  'src/runtime/tracing': { rooms: ['config', 'tracing'], surfaces: ['src/http'] },
  'src/runtime/roles': {
    rooms: ['config', 'engines', 'metrics', 'tracing', 'roles'],
    surfaces: ['src/http', 'src/simulator', 'src/workers'],
  },
  'src/runtime/operator': {
    rooms: ['config', 'engines', 'operator'],
    surfaces: ['src/cli', 'src/http', 'src/simulator'],
  },
  'src/runtime/operations': {
    rooms: ['config', 'engines', 'metrics', 'tracing', 'roles', 'operator', 'operations'],
    surfaces: ['src/cli', 'src/console', 'src/http', 'src/workers'],
  },
  'src/runtime/service': { rooms: ['config', 'engines', 'metrics', 'tracing', 'roles', 'operations'], surfaces: [] },
  'src/runtime/commands': {
    rooms: ['config', 'engines', 'roles', 'operator', 'service', 'commands'],
    // The demo asks the service as programs of others do.
    surfaces: ['src/cli', 'src/client', 'src/simulator'],
  },
};

const PROGRAM = 'src/main.ts';

const MAX_LINES = 400;

const isIn = (path: string, area: string): boolean =>
  path === area || path.startsWith(`${area}/`) || path.replace(/\.[mc]?[jt]s$/, '') === area;

const adapterOf = (path: string): string | undefined => /^src\/adapters\/[^/]+/.exec(path)?.[0];

const allowanceOf = (path: string): Allowance | undefined => {
  const adapter = adapterOf(path);
  if (adapter !== undefined)
    return { areas: [...ADAPTER_MAY, adapter, ...(adapterAreas[adapter] ?? [])], packages: [/./] };
  const area = Object.keys(allowances).find((candidate) => isIn(path, candidate));
  return area === undefined ? undefined : allowances[area];
};

/** Clock, chance and surroundings; a pure domain is given them. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bcrypto\b|\bprocess\s*[.[]|\bset(?:Timeout|Interval|Immediate)\b|\bperformance\b|\bfetch\(/;

/** Files that append by themselves, each with its reason. All others go through `transact`, which decides on the exact revision and retries. */
const appendsItself: Readonly<Record<string, string>> = {
  'src/app/event-store/event-store.ts': 'appends to the log',
  'src/app/event-store/transact.ts': 'loads, decides, appends and retries for every use case',
  'src/app/accept/reserve.ts': 'an acceptance and its guards are one transaction (ADR 42)',
  'src/app/issuing/protocol.ts': 'an attempt is appended once: only the process whose append was first sends it',
  'src/runtime/metrics/measured-store.ts': 'passes on the calls that it counts',
  'src/runtime/tracing/traced-store.ts': 'passes on the calls of which it makes spans',
};

/** A call, another name for the function, or the function taken out of its object. */
const APPEND =
  /\.append(?:\b|Guarded\s*\()|\[\s*['"`]append['"`]\s*\]|\{[^{}]*\bappend\b[^{}]*\}\s*(?:=(?![=>])|:\s*(?:Pick<\s*)?EventStore\b)/;

/** A command context, which only `command-context.ts` builds. */
const CONTEXT = /\bcausationId\s*:/;
const namesCauses: Readonly<Record<string, string>> = {
  'src/app/event-store/command-context.ts': 'builds every context',
  'src/app/event-store/codec.ts': 'writes a context as metadata',
  'src/app/audit/event-shape.ts': 'checks stored metadata',
};

/** Does not end where a file system takes no folder and says so by ENOENT, as /proc and a deleted folder do. */
const RECURSIVE_MKDIR = /\bmkdir(?:Sync)?\s*\([^;]*?\brecursive\b/;
/** Builds the program, so it loads no file that is to be built. */
const BUILD = 'src/launch/build.mjs';

/** The log of the simulator is another log, and adapters are below the event store. */
const isBelowTheStore = (path: string): boolean =>
  ['src/adapters', 'src/ports', 'src/simulator'].some((area) => isIn(path, area));

const appendBreaches = (path: string, code: string): readonly string[] => {
  if (isBelowTheStore(path)) return [];
  return [
    ...(APPEND.test(code) && appendsItself[path] === undefined ? ['appends without transact'] : []),
    ...(CONTEXT.test(code) && namesCauses[path] === undefined ? ['builds a command context by hand'] : []),
  ];
};

/** The files above that no longer append; a list of exceptions must not outlive them. */
export const idleExceptions = (files: readonly SourceFile[]): readonly string[] =>
  Object.keys(appendsItself).filter(
    (path) => !files.some((file) => file.path === path && APPEND.test(withoutComments(file.text))),
  );

/** One line for each breach of the dependency rule or of the shape of files; empty is good. */
export const breachesOf = (file: SourceFile): readonly string[] => [
  ...importBreaches(file),
  ...shapeBreaches(file).map((what) => `${file.path}: ${what}`),
];

const roomBreaches = (file: SourceFile): readonly string[] => {
  const room = Object.keys(rooms).find((candidate) => isIn(file.path, candidate));
  const allowed = room === undefined ? undefined : rooms[room];
  if (allowed === undefined) return [`${file.path}: belongs to no room of the runtime`];
  const fits = (target: string): boolean => {
    if (isIn(target, 'src/runtime')) return allowed.rooms.some((name) => isIn(target, `src/runtime/${name}`));
    const surface = SURFACES.find((area) => isIn(target, area));
    return !isIn(target, 'src/main') && (surface === undefined || allowed.surfaces.includes(surface));
  };
  return importsOf(file)
    .filter((target) => !fits(target))
    .map((target) => `${file.path}: must not import ${target}`);
};

const importBreaches = (file: SourceFile): readonly string[] => {
  if (file.path === PROGRAM) return [];
  if (isIn(file.path, 'src/runtime')) return roomBreaches(file);
  const allowance = allowanceOf(file.path);
  if (allowance === undefined) return [`${file.path}: belongs to no area`];
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
    ...appendBreaches(path, code),
    ...(path !== BUILD && RECURSIVE_MKDIR.test(code) ? ['makes folders without src/lib/files.ts'] : []),
    ...(lines > MAX_LINES ? [`has ${lines} lines`] : []),
  ];
};
