import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/runtime/config/config.js';
import { environment } from '../../../src/runtime/config/environment.js';
import { sourceFiles, withoutComments } from '../../architecture/imports.js';

const CONFIG = 'src/runtime/config/config.ts';
const files = sourceFiles(fileURLToPath(new URL('../../..', import.meta.url)), ['src']);

const namesMember = (name: string, text: string): boolean => new RegExp(`\\.${name}\\b`).test(text);

const textOf = (path: string): string => withoutComments(files.find((file) => file.path === path)?.text ?? '');

/** Names of the members that hold no members themselves. */
const leavesOf = (value: object): readonly string[] =>
  Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? leavesOf(inner) : [name],
  );

describe('what environment variables configure', () => {
  it('has each variable read where the configuration is made or checked', () => {
    const readers = [CONFIG, 'src/runtime/config/checks.ts'].map(textOf).join('\n');
    expect(Object.keys(environment.entries).filter((name) => !namesMember(name, readers))).toEqual([]);
  });

  it('is used by the program, each member by its name', () => {
    const result = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' });
    const leaves = 'config' in result ? leavesOf(result.config) : [];
    expect(leaves).toEqual(expect.arrayContaining(['poolSize', 'protocol', 'renegotiate']));
    const users = files.filter(({ path }) => path !== CONFIG).map(({ text }) => withoutComments(text));
    const isUsed = (name: string) => users.some((text) => new RegExp(`\\b${name}\\b`).test(text));
    expect(leaves.filter((name) => !isUsed(name))).toEqual([]);
  });
});
