import { expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it.each([
  { env: { PORT: 'x' }, code: 2, error: /^The configuration cannot be used:\n {2}PORT / },
  {
    env: { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c', MASTER_KEY_FILE: '/no/key' },
    code: 3,
    error: /^the database cannot be reached: /,
  },
  { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, code: 2, error: /^NODE_TLS_REJECT_UNAUTHORIZED=0 / },
])('a fault of the start is a document on stdout with --json: $env', async ({ env, code, error }) => {
  const program = runProgram(['src/main.ts', 'company', 'list', '--json'], { DATA_DIR: temporaryFolder(), ...env });
  expect(await program.ended).toMatchObject({ code });
  expect(JSON.parse(program.output().stdout)).toEqual({ error: expect.stringMatching(error) });
  expect(program.output().stderr).not.toContain('cannot be');
});

it.each([
  { command: 'company list', isNamed: true },
  { command: 'restore --from /no/backup', isNamed: false },
  { command: 'setup database', isNamed: false },
])(
  'a master key file that is not there is named beside a wrong variable: nfse $command, $isNamed',
  async ({ command, isNamed }) => {
    const env = { DATA_DIR: temporaryFolder(), PORT: 'x', MASTER_KEY_FILE: '/no/key' };
    const program = runProgram(['src/main.ts', ...command.split(' '), '--json'], env);
    expect(await program.ended).toMatchObject({ code: 2 });
    const { error } = JSON.parse(program.output().stdout) as { error: string };
    expect([error.includes('PORT '), error.includes('MASTER_KEY_FILE cannot be read')]).toEqual([true, isNamed]);
  },
);
