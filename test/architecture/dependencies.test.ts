import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsOf, loadedWith, sourceFiles } from './imports.js';
import { ringsOf } from './rings.js';
import { breachesOf, idleExceptions } from './rules.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = sourceFiles(root, ['src', 'projections']);

/** With every role: what the service imports, and what it loads while its engines open. */
const withService = [
  'src/runtime/service.js',
  'src/runtime/operations/operations.js',
  'src/runtime/roles/projector.js',
  'src/runtime/roles/workers.js',
  'src/runtime/roles/api.js',
].flatMap((program) => [...loadedWith(program, files)]);

describe('the source', () => {
  it('keeps the dependency rule and the shape of its files', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(breachesOf)).toEqual([]);
  });

  it('names no exception from transact that appends no more', () => {
    expect(idleExceptions(files)).toEqual([]);
  });

  it('has no ring of imports, types included', () => {
    expect(ringsOf(files)).toEqual([]);
  });

  it('loads no engine, page or printer for a command that only says how it is used', () => {
    const loaded = [...loadedWith('src/runtime/commands/main.js', files)];
    expect(loaded).toContain('src/cli/commands/company.js');
    const heavy =
      /^(?:kysely|nats|pino|hono|node-forge|xml-crypto|fast-xml-parser|libxml2-wasm|pdfmake|fontkit|prom-client|@eventstore\/.*)$/;
    const rooms =
      /^src\/(?:http|console|simulator|xml|projector|workers|runtime\/(?:engines\/engines|roles|service))\b/;
    expect(loaded.filter((target) => heavy.test(target) || rooms.test(target))).toEqual([]);
  });

  it('loads no reader of documents or certificates for a command that only works with the engines', () => {
    const loaded = [...loadedWith('src/runtime/operator/session.js', files)];
    expect(loaded).toContain('src/runtime/engines/engines.js');
    const heavy = /^(?:nats|hono|node-forge|xml-crypto|fast-xml-parser|libxml2-wasm|pdfmake|prom-client)\b/;
    const rooms = /^src\/(?:xml|workers|runtime\/(?:roles|service)|simulator\/start)\b/;
    expect(loaded.filter((target) => heavy.test(target) || rooms.test(target))).toEqual([]);
  });

  it('loads neither queue nor certificates with a service that needs none of them', () => {
    expect(withService).toContain('src/http/app.js');
    expect(withService.filter((target) => /^(?:nats|node-forge|xml-crypto|marked)\b/.test(target))).toEqual([]);
  });

  it('loads no second reader of XML in the thread that draws: kept notes were judged when they came', () => {
    const loaded = [...loadedWith('src/adapters/pdf/worker.js', files)];
    expect(loaded).toContain('fast-xml-parser');
    expect(loaded.filter((target) => /^(?:libxml2-wasm|xml-crypto|node-forge)\b/.test(target))).toEqual([]);
  });

  it('loads nothing of OpenTelemetry with the service, which asks for it only when it is to trace', () => {
    expect(withService).toContain('src/runtime/tracing/traces.js');
    expect(withService.filter((target) => /opentelemetry/.test(target))).toEqual([]);
    expect(files.filter(({ text }) => /from '@opentelemetry\//.test(text)).map(({ path }) => path)).toEqual([
      'src/adapters/tracing-opentelemetry/tracing.ts',
    ]);
  });

  it('imports files that exist, by their names as compiled', () => {
    const missing = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.startsWith('src/') || target.startsWith('projections/'))
        .filter(
          (target) => !existsSync(`${root}/${target.replace(/\.js$/, '.ts')}`) && !existsSync(`${root}/${target}`),
        )
        .map((target) => `${file.path}: ${target}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the judge of the proof', () => {
  const own = sourceFiles(root, ['test/proof/judge']).filter(({ path }) => !path.endsWith('.test.ts'));

  it('shares no code with what it judges, nor with the run that it reads', () => {
    expect(own.length).toBeGreaterThan(5);
    const others = own.flatMap((file) => importsOf(file)).filter((target) => !/^test\/proof\/judge\//.test(target));
    expect([...new Set(others)].filter((target) => !/^node:|^xml-crypto$/.test(target))).toEqual([]);
  });
});

describe('the client of the API', () => {
  it('loads nothing but its own files: what it takes from elsewhere are types', () => {
    expect([...loadedWith('src/client/client.js', files)].toSorted()).toEqual([
      'src/client/client.js',
      'src/client/errors.js',
      'src/client/transport.js',
    ]);
  });
});

describe('what is loaded with a file', () => {
  it('follows imports of values, not of types, and not those at run time', () => {
    const text = [
      "import type { A } from './a.js';",
      "import {\n  b,\n  type C,\n} from './b.js';",
      "const d = await import('./d.js');",
      "export { e } from 'e';",
    ].join('\n');
    const planted = [
      { path: 'src/main.ts', text },
      { path: 'src/b.ts', text: "import 'f';" },
    ];
    expect([...loadedWith('src/main.js', planted)]).toEqual(['src/main.js', 'src/b.js', 'f', 'e']);
  });
});

describe('the checker', () => {
  const planted: readonly (readonly [string, string, string])[] = [
    ['domain imports a port', 'src/domain/a.ts', "import { x } from '../ports/clock.js';"],
    ['domain imports a port as a type', 'src/domain/a.ts', "import type { Clock } from '../ports/clock.js';"],
    ['domain re-exports a port', 'src/domain/a.ts', "export { x } from '../ports/clock.js';"],
    ['domain imports in an expression', 'src/domain/a.ts', "const x = await import('../ports/clock.js');"],
    ['domain imports in a type', 'src/domain/a.ts', "type C = import('../ports/clock.js').Clock;"],
    ['domain imports for the effect', 'src/domain/a.ts', "import '../ports/clock.js';"],
    ['domain imports over many lines', 'src/domain/a.ts', "import {\n  x,\n} from\n  '../ports/clock.js';"],
    ['domain imports a node module', 'src/domain/a.ts', "import { join } from 'node:path';"],
    ['domain imports a package', 'src/domain/a.ts', "import * as v from 'valibot';"],
    ['domain reads the clock', 'src/domain/a.ts', 'export const now = () => Date.now();'],
    ['domain makes the date of now', 'src/domain/a.ts', 'export const now = () => new Date();'],
    ['domain throws dice', 'src/domain/a.ts', 'export const n = Math.random();'],
    ['domain uses the global crypto', 'src/domain/a.ts', 'export const id = crypto.randomUUID();'],
    ['domain reads the environment', 'src/domain/a.ts', 'export const e = process.env.X;'],
    ['domain waits', 'src/domain/a.ts', 'setTimeout(() => {}, 1);'],
    ['a port imports app', 'src/ports/a.ts', "import { x } from '../app/lru.js';"],
    ['app imports an adapter', 'src/app/a.ts', "import { x } from '../adapters/sql/pool.js';"],
    ['app imports http', 'src/app/a.ts', "import { x } from '../http/app.js';"],
    ['app opens files', 'src/app/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['the console imports http', 'src/console/a.ts', "import { x } from '../http/app.js';"],
    ['the console imports an adapter', 'src/console/a.ts', "import { x } from '../adapters/sql/pool.js';"],
    ['http imports a worker', 'src/http/a.ts', "import { x } from '../workers/relay.js';"],
    ['http imports the database', 'src/http/a.ts', "import pg from 'pg';"],
    ['a worker imports one projection', 'src/workers/a.ts', "import { x } from '../../projections/invoices.js';"],
    ['a worker imports the registry', 'src/workers/a.ts', "import { x } from '../../projections/registry.js';"],
    ['cli imports an adapter', 'src/cli/a.ts', "import { x } from '../adapters/sql/pool.js';"],
    ['a projection imports app', 'projections/a/apply.ts', "import { x } from '../../src/lib/lru.js';"],
    ['a projection imports the database', 'projections/a/apply.ts', "import pg from 'pg';"],
    ['an adapter imports another', 'src/adapters/a/b.ts', "import { x } from '../vault/envelope.js';"],
    ['an adapter imports app', 'src/adapters/a/b.ts', "import { x } from '../../app/lru.js';"],
    ['the simulator imports the invoice', 'src/simulator/a.ts', "import { x } from '../domain/invoice/events.js';"],
    ['the simulator imports an adapter', 'src/simulator/a.ts', "import { x } from '../adapters/sql/pool.js';"],
    ['the xml imports a port', 'src/xml/a.ts', "import { x } from '../ports/documents.js';"],
    ['anybody imports the runtime', 'src/http/a.ts', "import { x } from '../runtime/clock.js';"],
    ['a setting imports an engine', 'src/runtime/config/a.ts', "import type { E } from '../engines/engines.js';"],
    ['an engine imports a role', 'src/runtime/engines/a.ts', "import { x } from '../roles/api.js';"],
    ['a role imports the operations port', 'src/runtime/roles/a.ts', "import { x } from '../operations/console.js';"],
    ['a role imports an operator task', 'src/runtime/roles/a.ts', "import { x } from '../operator/session.js';"],
    ['an operator task imports a role', 'src/runtime/operator/a.ts', "import type { P } from '../roles/parts.js';"],
    ['a room imports the whole service', 'src/runtime/roles/a.ts', "import { x } from '../service.js';"],
    ['the service imports a command', 'src/runtime/service.ts', "import { x } from './commands/serve.js';"],
    ['an engine imports the cli', 'src/runtime/engines/a.ts', "import { x } from '../../cli/run.js';"],
    ['a role imports the console', 'src/runtime/roles/a.ts', "import { x } from '../../console/app.js';"],
    ['a command imports the program', 'src/runtime/commands/a.ts', "import { x } from '../../main.js';"],
    ['a file of no room', 'src/runtime/a.ts', 'export const x = 1;'],
    ['a file of no area', 'src/utils/a.ts', 'export const x = 1;'],
    ['a default export', 'src/app/a.ts', 'const x = 1;\nexport default x;'],
    ['a barrel', 'src/app/index.ts', "export * from './lru.js';"],
    ['a barrel of types', 'src/app/index.ts', "export type * from './lru.js';"],
    ['a use case appends', 'src/app/a.ts', 'await deps.store.append(stream, version, events, context);'],
    ['a use case appends when it may', 'src/app/a.ts', 'await store?.append(stream, version, [], context);'],
    ['a use case appends over lines', 'src/app/cancel/a.ts', 'await store\n  .append(stream, version, [], context);'],
    ['a use case takes the function', 'src/app/a.ts', 'const { load, append } = deps.store;'],
    ['a use case is given the function', 'src/app/a.ts', 'const f = async ({ append }: EventStore) => append(x);'],
    ['a use case renames the function', 'src/app/a.ts', 'const add = store.append;'],
    ['a use case appends by index', 'src/app/a.ts', "await store['append'](stream, version, [], context);"],
    ['a use case appends with guards', 'src/app/a.ts', 'await store.appendGuarded(stream, event, context, guards);'],
    ['a worker appends', 'src/workers/a.ts', 'await store.append(stream, version, [], context);'],
    ['the runtime appends to the log', 'src/runtime/engines/a.ts', 'await log.append(stream, expected, events);'],
    ['a context is built by hand', 'src/app/a.ts', 'const context = { commandId, causationId: commandId };'],
    ['folders are made by the recursive mkdir', 'src/cli/a.ts', 'await mkdir(folder, { recursive: true });'],
    ['folders are made at once', 'src/cli/a.ts', 'mkdirSync(folder, {\n  mode: 0o700,\n  recursive: true,\n});'],
    ['a file of 401 lines', 'src/app/a.ts', 'export const x = 1;\n'.repeat(401)],
  ];

  it.each(planted)('refuses it when %s', (_what, path, text) => {
    expect(breachesOf({ path, text })).toHaveLength(1);
  });

  it.each([
    ['src/domain/a.ts', "// new Date() and '../ports/clock.js' are talk here\nexport const at = new Date(0);"],
    ['src/domain/a.ts', "import { x } from './common/time.js';\n/* import 'pg' */\nexport const url = 'http://a/b';"],
    ['src/adapters/a/b.ts', "import pg from 'pg';\nimport { x } from '../sql/pool.js';\nimport { y } from './c.js';"],
    ['src/projector/a.ts', "import type { Projection } from '../../projections/types.js';"],
    [
      'src/runtime/engines/a.ts',
      "import { x } from '../../adapters/sql/pool.js';\nimport { y } from '../config/b.js';",
    ],
    ['src/runtime/service.ts', "import { x } from './operations/a.js';\nimport { y } from './roles/b.js';"],
    ['src/app/event-store/transact.ts', 'await store.append(stream, version, events, context);'],
    ['src/app/a.ts', '// store.append(x)\nexport const fake = { append: async () => true };\nconst { appended } = x;'],
    ['src/adapters/a/b.ts', 'await log.append(stream, expected, events);'],
    ['src/adapters/a/b.ts', 'await mkdir(draft, { mode: 0o700 });\nawait rm(draft, { recursive: true, force: true });'],
  ])('lets what is allowed pass in %s', (path, text) => {
    expect(breachesOf({ path, text })).toEqual([]);
  });
});

describe('the search for rings', () => {
  const file = (path: string, ...imports: string[]) => ({ path, text: imports.join('\n') });

  it.each([
    ['two files', [file('src/a.ts', "import { b } from './b.js';"), file('src/b.ts', "import { a } from './a.js';")]],
    [
      'two files, one way by a type',
      [file('src/a.ts', "import { b } from './b.js';"), file('src/b.ts', "import type { A } from './a.js';")],
    ],
    [
      'two files, one way by an import type',
      [file('src/a.ts', "import { b } from './b.js';"), file('src/b.ts', "type A = import('./a.js').A;")],
    ],
    [
      'three files over two areas',
      [
        file('src/a.ts', "import { b } from './x/b.js';"),
        file('src/x/b.ts', "import { c } from '../../projections/c.js';"),
        file('projections/c.ts', "export { a } from '../src/a.js';"),
      ],
    ],
    ['a file that imports itself', [file('src/a.ts', "import { a } from './a.js';")]],
  ])('finds one of %s', (_what, planted) => {
    expect(ringsOf([file('src/other.ts', "import { a } from './a.js';"), ...planted])).toEqual([
      planted.map(({ path }) => path).sort(),
    ]);
  });

  it('finds two that share no file', () => {
    const planted = [
      file('src/a.ts', "import './b.js';"),
      file('src/b.ts', "import './a.js';\nimport './c.js';"),
      file('src/c.ts', "import './d.js';"),
      file('src/d.ts', "import './c.js';"),
    ];
    expect(ringsOf(planted)).toEqual([
      ['src/c.ts', 'src/d.ts'],
      ['src/a.ts', 'src/b.ts'],
    ]);
  });

  it('lets files pass that are imported by many', () => {
    const planted = [
      file('src/a.ts', "import './b.js';\nimport './c.js';"),
      file('src/b.ts', "import './c.js';"),
      file('src/c.ts', "// import './a.js'"),
    ];
    expect(ringsOf(planted)).toEqual([]);
  });
});
