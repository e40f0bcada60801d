import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { done } from '../../../src/cli/command.js';
import { runCommand } from '../../../src/cli/run.js';
import { allCommands } from '../../../src/runtime/commands/main.js';
import { environment } from '../../../src/runtime/config/environment.js';
import { composeVariables, readCompose } from '../../support/compose.js';
import { commandLinesOf, examplesOf, operationsPages, variablesOf } from '../../support/operations-docs.js';
import { sdkVariables, variableNames } from '../../tools/documents/environment-reference.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const pages = operationsPages();
const unused = (): never => {
  throw new Error('a command that is only read needs nothing');
};

/** The program's own reading of the words, without doing anything; empty when it understood. */
const complaintAbout = async (words: readonly string[]): Promise<string> => {
  const commands = allCommands({}, unused).map((command) => ({ ...command, run: async () => done('', {}) }));
  const errors: string[] = [];
  const terminal = { out: () => undefined, err: (text: string) => void errors.push(text) };
  // A page writes CNPJ where the reader has one.
  const typed = words.map((word) => (word === 'CNPJ' ? '12345678000195' : word));
  const exit = await runCommand(typed, commands, unused, terminal);
  const complaint = errors.join('\n');
  // A sentence may name a command without its options.
  const isNamedOnly = complaint.startsWith('required option') && words.every((word) => !word.startsWith('-'));
  return exit === 0 || isNamedOnly ? '' : complaint;
};

describe('the handbook, the README and the first steps', () => {
  it('have command lines that the program understands, flags included', async () => {
    const commands = readFileSync(join(root, 'docs/cli.md'), 'utf8');
    const examples = examplesOf({ name: 'docs/cli.md', text: commands });
    expect(examples.length).toBeGreaterThan(50);
    const lines = [...examples, ...pages.flatMap(commandLinesOf)];
    expect(lines.length).toBeGreaterThan(100);
    for (const { page, line, words } of lines) {
      expect([page, line, await complaintAbout(words)]).toEqual([page, line, '']);
    }
  });

  it.each([
    ['an unknown command', 'nfse company remove 1'],
    ['an unknown flag', 'nfse key create 1 --mode test --for ever'],
    ['a flag without the one that is required', 'nfse key create 1 --scope nfse:read'],
    ['a missing word', 'docker compose run --rm nfse key revoke'],
    ['a word too many', 'npm run -s nfse -- doctor now'],
  ])('would be found out with %s', async (_what, line) => {
    const [found] = commandLinesOf({ name: 'page', text: `\`\`\`sh\n${line}\n\`\`\`` });
    expect(await complaintAbout(found?.words ?? [])).not.toBe('');
  });

  it('name variables that the program or its tests read', () => {
    const { services } = readCompose();
    const ofEngines = Object.values(services).flatMap(({ environment = {} }) => Object.keys(environment));
    const ofShells = [
      'KEY',
      'API',
      'ID',
      'LINK',
      'CONTROL',
      'OLD',
      'ADMIN',
      'NFSE',
      'ES',
      'ES_URL',
      'TEST_EVENTSTORE_URL',
    ];
    const ofBuild = [
      'NODE_IMAGE',
      'COMPOSE_PROJECT_NAME',
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'NODE_EXTRA_CA_CERTS',
      'NO_COLOR',
    ];
    const ofTools = [...sdkVariables, ...ofEngines, ...composeVariables(), ...ofShells, ...ofBuild];
    const known = new Set([...variableNames, ...ofTools]);
    const named = pages.flatMap((page) => variablesOf(page).map((variable) => `${page.name}: ${variable}`));
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((text) => !known.has(text.replace(/^.*: /, '')))).toEqual([]);
  });

  it('have a row for every variable, with its default where one is fixed', () => {
    const page = pages.find(({ name }) => name === 'docs/operations/configuration.md')?.text ?? '';
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const rowOf = (name: string) => rows.find((row) => row.split(' | ')[0]?.includes(`\`${name}\``)) ?? '';
    expect(variableNames.filter((name) => rowOf(name) === '')).toEqual([]);
    const defaults = Object.entries(v.parse(environment, {})).filter(([, value]) => /^(?!0$).+$/.test(String(value)));
    expect(defaults.length).toBeGreaterThan(20);
    expect(defaults.filter(([name, value]) => !rowOf(name).includes(String(value)))).toEqual([]);
  });

  it('name services of compose.yaml, and files that setup makes', () => {
    const { services } = readCompose();
    let named = 0;
    for (const { name, text } of pages) {
      const verbs = 'up|start|stop|restart|build|run|exec|rm';
      for (const [line, , rest = ''] of text.matchAll(new RegExp(`docker compose (${verbs}) ([^\`\n|;&>]*)`, 'g'))) {
        const words = rest.replaceAll(/(?:-v|-e|--entrypoint|--scale) \S+/g, '').split(/\s+/);
        const service = words.find((word) => /^[a-z]/.test(word));
        if (service === undefined) continue;
        named += 1;
        expect([name, line, Object.keys(services)]).toEqual([name, line, expect.arrayContaining([service])]);
      }
    }
    expect(named).toBeGreaterThan(5);
  });

  it('link to pages, headings and files that there are', () => {
    let links = 0;
    for (const { name, text } of pages) {
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        links += 1;
        const [file = '', heading] = target.split('#');
        const path = file === '' ? name : join(dirname(name), file);
        expect([name, target, existsSync(join(root, path))]).toEqual([name, target, true]);
        if (heading === undefined) continue;
        const headings = (pages.find((page) => page.name === path)?.text ?? '').matchAll(/^#+ (.*)$/gm);
        const anchors = [...headings].map(([, title = '']) =>
          title
            .toLowerCase()
            .replaceAll(/[^\w -]/g, '')
            .replaceAll(' ', '-'),
        );
        if (anchors.length > 0)
          expect([name, target, anchors]).toEqual([name, target, expect.arrayContaining([heading])]);
      }
    }
    expect(links).toBeGreaterThan(50);
  });

  it('write dumps and copies of secrets into files that their owner alone may read', () => {
    const written = pages.flatMap(({ name, text }) =>
      text
        .split('\n')
        .filter((line) => /(?:pg_dump|\/secrets\/).* > /.test(line))
        .map((line) => [name, line]),
    );
    expect(written.length).toBeGreaterThan(2);
    for (const [name, line] of written) expect([name, line]).toEqual([name, expect.stringContaining('umask 077; ')]);
  });

  it('have a row for every page in their index', () => {
    const index = pages.find(({ name }) => name === 'docs/operations/README.md')?.text ?? '';
    for (const { name } of pages.filter((page) => page.name.startsWith('docs/operations/'))) {
      const file = name.replace('docs/operations/', '');
      if (file !== 'README.md') expect(index).toContain(`](${file})`);
    }
  });
});
