import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsOf, sourceFiles } from './imports.js';
import { breachesOf } from './rules.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = sourceFiles(root, ['src', 'projections']);

describe('the source', () => {
  it('keeps the dependency rule and the shape of its files', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(breachesOf)).toEqual([]);
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
    ['a worker imports one projection', 'src/workers/a.ts', "import { x } from '../../projections/invoices/apply.js';"],
    ['a worker imports the registry', 'src/workers/a.ts', "import { x } from '../../projections/registry.js';"],
    ['cli imports an adapter', 'src/cli/a.ts', "import { x } from '../adapters/sql/pool.js';"],
    ['a projection imports app', 'projections/a/apply.ts', "import { x } from '../../src/app/lru.js';"],
    ['a projection imports the database', 'projections/a/apply.ts', "import pg from 'pg';"],
    ['an adapter imports another', 'src/adapters/a/b.ts', "import { x } from '../vault/envelope.js';"],
    ['an adapter imports app', 'src/adapters/a/b.ts', "import { x } from '../../app/lru.js';"],
    ['the simulator imports the invoice', 'src/simulator/a.ts', "import { x } from '../domain/invoice/events.js';"],
    ['the simulator imports an adapter', 'src/simulator/a.ts', "import { x } from '../adapters/sql/pool.js';"],
    ['the xml imports a port', 'src/xml/a.ts', "import { x } from '../ports/documents.js';"],
    ['anybody imports the runtime', 'src/http/a.ts', "import { x } from '../runtime/clock.js';"],
    ['a file of no area', 'src/utils/a.ts', 'export const x = 1;'],
    ['a default export', 'src/app/a.ts', 'const x = 1;\nexport default x;'],
    ['a barrel', 'src/app/index.ts', "export * from './lru.js';"],
    ['a barrel of types', 'src/app/index.ts', "export type * from './lru.js';"],
    ['a file of 251 lines', 'src/app/a.ts', 'export const x = 1;\n'.repeat(251)],
  ];

  it.each(planted)('refuses it when %s', (_what, path, text) => {
    expect(breachesOf({ path, text })).toHaveLength(1);
  });

  it.each([
    ['src/domain/a.ts', "// new Date() and '../ports/clock.js' are talk here\nexport const at = new Date(0);"],
    ['src/domain/a.ts', "import { x } from './shared/time.js';\n/* import 'pg' */\nexport const url = 'http://a/b';"],
    ['src/adapters/a/b.ts', "import pg from 'pg';\nimport { x } from '../sql/pool.js';\nimport { y } from './c.js';"],
    ['src/workers/a.ts', "import type { Projection } from '../../projections/types.js';"],
    ['src/runtime/a.ts', "import { x } from '../adapters/sql/pool.js';"],
  ])('lets what is allowed pass in %s', (path, text) => {
    expect(breachesOf({ path, text })).toEqual([]);
  });
});
