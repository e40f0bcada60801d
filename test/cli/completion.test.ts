import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { done } from '../../src/cli/command.js';
import { runCommand } from '../../src/cli/run.js';
import { allCommands } from '../../src/runtime/commands/main.js';
import { ENDS_WITHIN_MS } from '../support/patient.js';

const unused = (): never => {
  throw new Error('a completion needs no engine');
};

const printed = async (...argv: string[]) => {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  const exit = await runCommand(argv, allCommands({}, unused), unused, terminal);
  return { exit, out: out.join('\n'), err: err.join('\n') };
};

describe('the script for bash', () => {
  let script = '';
  beforeAll(async () => {
    script = (await printed('completion', 'bash')).out;
  });

  /** What the shell offers for the last of these words. */
  const offered = (...words: string[]): readonly string[] => {
    const typed = words.map((word) => `'${word}'`).join(' ');
    const ask = `${script}\nCOMP_WORDS=(nfse ${typed}); COMP_CWORD=${words.length}; _nfse; printf '%s\\n' "${'$'}{COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', ask], { encoding: 'utf8', cwd: '/', timeout: ENDS_WITHIN_MS });
    expect(stderr).toBe('');
    return stdout.split('\n').filter((word) => word !== '');
  };

  it.each<[string[], string[]]>([
    [['com'], ['company', 'completion']],
    [['company', 'e'], ['enable']],
    [
      ['key', ''],
      ['create', 'list', 'revoke'],
    ],
    [['key', 'create', '123', '--mo'], ['--mode']],
    [['invoice', 'list', '--st'], ['--status']],
    [['serve', '--ro'], ['--role']],
    [['doctor', '--rec'], ['--reconcile']],
  ])('offers behind %j what may be typed', (words, wanted) => {
    expect([...offered(...words)].sort()).toEqual(wanted);
  });
});

it('there is one for zsh and for fish, which name every command, and none for another shell', async () => {
  const names = allCommands({}, unused).map(({ name }) => name.split(' ').at(-1) ?? '');
  for (const shell of ['zsh', 'fish']) {
    const { exit, out } = await printed('completion', shell);
    expect(exit).toBe(0);
    for (const name of names) expect([shell, out]).toEqual([shell, expect.stringContaining(name)]);
  }
  expect((await printed('completion', 'tcsh')).exit).toBe(2);
});

it('every help has an example that the program itself understands', async () => {
  const commands = allCommands({}, unused).map((command) => ({ ...command, run: async () => done('', {}) }));
  for (const { name } of commands) {
    const { out } = await printed(...name.split(' '), '--help');
    const examples = [...out.matchAll(/^ {2}nfse (.+)$/gm)].map(([, typed = '']) => typed.split(' '));
    expect([name, examples.length]).not.toEqual([name, 0]);
    const silent = { out: () => undefined, err: () => undefined };
    for (const typed of examples)
      expect([typed, await runCommand(typed, commands, unused, silent)]).toEqual([typed, 0]);
  }
});
