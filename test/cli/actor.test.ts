import { userInfo } from 'node:os';
import { beforeEach, expect, it, vi } from 'vitest';
import { type Command, done } from '../../src/cli/command.js';
import { runCommand } from '../../src/cli/run.js';

vi.mock('node:os', { spy: true });

/** As Node answers for a uid without a passwd entry, usual in containers. */
const withoutName = (): never => {
  throw new Error('A system error occurred: uv_os_get_passwd returned ENOENT (no such file or directory)');
};

beforeEach(() => {
  vi.mocked(userInfo).mockReset();
});

const commandNamed = (name: string, changes: boolean): Command => ({
  name,
  positionals: [],
  summary: '',
  options: {},
  changes,
  run: async ({ actor }) => done(actor, { actor }),
});

const run = async (...argv: string[]) => {
  const out: string[] = [];
  const exit = await runCommand(
    argv,
    [commandNamed('look', false), commandNamed('change', true)],
    () => Promise.reject(new Error('not needed')),
    { out: (text) => void out.push(text), err: (text) => void out.push(text) },
  );
  return { exit, out: out.join('\n') };
};

it('a command that changes nothing asks nobody for a name', async () => {
  vi.mocked(userInfo).mockImplementation(withoutName);
  expect((await run('look')).exit).toBe(0);
  expect(userInfo).not.toHaveBeenCalled();
});

it('nor does one whose actor is given', async () => {
  vi.mocked(userInfo).mockImplementation(withoutName);
  expect(await run('change', '--actor', 'maria')).toEqual({ exit: 0, out: 'maria' });
  expect(userInfo).not.toHaveBeenCalled();
});

it('the OS user acts when none is given, by number where it has no name', async () => {
  const named = await run('change');
  expect(named).toEqual({ exit: 0, out: userInfo().username });
  vi.mocked(userInfo).mockImplementation(withoutName);
  expect(await run('change')).toEqual({ exit: 0, out: `uid:${process.geteuid?.()}` });
});

it.each(['a\u001b[31m', 'a\nb', 'a\u009b31m', 'a\u007f'])(
  'an actor with control characters is bad usage: %j',
  async (actor) => {
    expect(await run('change', '--actor', actor)).toEqual({
      exit: 2,
      out: '--actor has control characters: name who runs this without them',
    });
  },
);

it.each(['', ' ', '\u00a0'])('an actor without a name is bad usage: %j', async (actor) => {
  expect(await run('change', '--actor', actor)).toEqual({
    exit: 2,
    out: '--actor is empty: name who runs this, or leave the option out for the user of this machine',
  });
});

it('a name that would fill the events of a command is refused', async () => {
  expect(await run('change', '--actor', 'a'.repeat(201))).toEqual({
    exit: 2,
    out: '--actor is longer than 200 characters',
  });
  expect((await run('change', '--actor', 'a'.repeat(200))).exit).toBe(0);
});
