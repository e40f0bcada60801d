import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { refusalOfNode } from '../../../src/runtime/config/supported-node.js';
import { importsOf } from '../../architecture/imports.js';
import { compiledProgram } from '../../support/compiled.js';
import { ENDS_WITHIN_MS } from '../../support/patient.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('the oldest Node', () => {
  it.each(['20.20.2', '20.20.3', '20.21.0', '22.22.2', '24.14.1', '24.21.0', '25.8.2', '26.0.0', '27.0.0-nightly2026'])(
    '%s runs the service',
    (version) => expect(refusalOfNode(version)).toBeUndefined(),
  );

  it.each([
    '20.20.1',
    '20.9.0',
    '18.20.8',
    '16.0.0',
    '9.11.2',
    '0.12.18',
    // Lines that got the fix later than their first release, and lines that ended without it.
    '22.22.1',
    '24.14.0',
    '25.8.1',
    '21.7.3',
    '23.11.1',
    '',
    'unknown',
    '24',
  ])('%s is refused', (version) => {
    const refusal = refusalOfNode(version);
    expect(refusal).toBe(
      `Node ${version} is refused: one JSON body can block it for minutes (CVE-2026-21717). ` +
        'Use the newest Node 24; the oldest that work are 20.20.2, 22.22.2, 24.14.1, 25.8.2.',
    );
    expect(refusal).not.toContain('\n');
  });

  it('stands in package.json as in the program, and types know no newer one', () => {
    const { engines, devDependencies } = JSON.parse(text('package.json')) as {
      engines: { node: string };
      devDependencies: Record<string, string>;
    };
    expect(devDependencies['@types/node']).toMatch(/^20\./);
    const [, oldest = ''] = /the oldest that work are (.*)\.$/.exec(refusalOfNode('') ?? '') ?? [];
    const lines = oldest.split(', ');
    expect(engines.node).toBe([...lines.slice(0, -1).map((line) => `^${line}`), `>=${lines.at(-1)}`].join(' || '));
    expect(engines.node.startsWith('^20.20.2 ')).toBe(true);
  });
});

describe('a start', () => {
  /** Makes the process believe that it is that Node, before the program is loaded. */
  const pretend = (version: string): string =>
    `data:text/javascript,${encodeURIComponent(
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`,
    )}`;

  const start = (version: string, program: readonly string[], ...options: readonly string[]) =>
    spawnSync(process.execPath, [...options, '--import', pretend(version), ...program], {
      cwd: ROOT,
      encoding: 'utf8',
      timeout: ENDS_WITHIN_MS,
    });

  it.each([[['serve']], [['demo']], [['doctor', '--json']], [['--help']]])(
    'of %j on an old Node ends with 2',
    (words) => {
      const { status, stdout, stderr } = start('20.9.0', [compiledProgram('src/main.ts'), ...words]);
      expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: `${refusalOfNode('20.9.0')}\n` });
    },
  );

  it('on the oldest that works goes on', () => {
    // From its source, because the code that a run of the tests compiles does not know its version.
    const { status, stdout } = start('20.20.2', ['src/main.ts', '--version'], '--import', 'tsx');
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^nfse \d/) });
  });

  it('loads nothing before the question', () => {
    const beforehand = text('src/main.ts').split('refusalOfNode(process')[0] ?? '';
    expect(importsOf({ path: 'src/main.ts', text: beforehand })).toEqual(['src/runtime/config/supported-node.js']);
    expect(text('src/main.ts')).not.toMatch(/^import(?!.*supported-node).*$/m);
    expect(
      importsOf({ path: 'src/runtime/config/supported-node.ts', text: text('src/runtime/config/supported-node.ts') }),
    ).toEqual([]);
  });
});
