import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tools/root.js';
import { mirrorFaults } from './mirror.js';

const below = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath.slice(ROOT.length), entry.name),
    isFolder: entry.isDirectory(),
  }));

const sources = new Set(['projections', ...below('src').flatMap(({ path, isFolder }) => (isFolder ? [path] : []))]);
const tests = below('test').flatMap(({ path, isFolder }) => (isFolder ? [] : [path]));

describe('the tests', () => {
  it('stand in the folders of what they test, or in a folder that is named', () => {
    expect(tests.filter((path) => path.endsWith('.test.ts')).length).toBeGreaterThan(300);
    expect(mirrorFaults(tests, sources)).toEqual([]);
  });

  it('that mock a module or replace a global have a separate process: elsewhere the module may be loaded already, and the mock does nothing', () => {
    const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
    const mocking = tests.filter(
      (path) =>
        path.endsWith('.test.ts') && /^vi\.mock\(|\bvi\.(?:doMock|resetModules|stubGlobal)\(/m.test(textOf(path)),
    );
    expect(mocking.length).toBeGreaterThan(3);
    const [, alone = ''] = /^const alone = \[(.*?)^\];/ms.exec(textOf('test/vitest.config.ts')) ?? [];
    expect(mocking.filter((path) => !alone.includes(`'${path}'`))).toEqual([]);
  });
});

describe('the checker', () => {
  const folders = new Set(['src/app/issuing', 'projections']);
  const named = { 'test/e2e': 'the whole' };
  const e2e = 'test/e2e/a.test.ts';

  it.each([
    ['a folder that the source does not have', ['test/app/issuer/cancel.test.ts', e2e]],
    ['a folder below one that is named', ['test/e2e/more/a.test.ts', e2e]],
    ['a named folder without tests', ['test/app/issuing/cancel.test.ts']],
    ['a helper by another word', ['test/app/issuing/world.ts', e2e]],
  ])('refuses %s', (_what, files) => {
    expect(mirrorFaults(files, folders, named)).toHaveLength(1);
  });

  it('refuses a folder that is named without need', () => {
    expect(mirrorFaults(['test/app/issuing/a.test.ts'], folders, { 'test/app/issuing': 'why' })).toHaveLength(1);
  });

  it('lets tests beside their source, of projections, and of a named folder pass', () => {
    const files = [
      'test/app/issuing/cancel.test.ts',
      'test/projections/handlers.test.ts',
      e2e,
      'test/app/issuing/x.ts',
    ];
    expect(mirrorFaults(files, folders, named)).toEqual([]);
  });
});
