import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { giveUpCommand, masterKeyCommands } from '../../src/cli/commands/master-key.js';
import { runCommand } from '../../src/cli/run.js';
import { registeredGenerations } from '../../src/runtime/commands/registered-generations.js';
import { addMasterKeyCommand } from '../../src/runtime/commands/setup.js';
import { readConfig } from '../../src/runtime/config/config.js';
import { companyFile } from '../support/fixture/company.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';

describeWithPostgres('nfse master-key', () => {
  let operator: Operator;
  let file: string;
  const progress: string[] = [];
  const names = () =>
    registeredGenerations(() => {
      const read = readConfig({ DATABASE_URL: operator.database.connectionString, MASTER_KEY_FILE: file });
      if ('problems' in read) throw new Error(read.problems.join('; '));
      return read.config;
    });
  beforeAll(async () => {
    operator = await openOperator(
      [...companyCommands, ...certificateCommands, doctorCommand, addMasterKeyCommand(names), ...masterKeyCommands],
      { isTTY: true, write: (text) => progress.push(text) },
    );
    file = join(operator.folder, 'master.key');
    await writeFile(join(operator.folder, 'company.json'), JSON.stringify(companyFile));
    await operator.run('company', 'put', join(operator.folder, 'company.json'));
    await operator.run('certificate', 'issue-demo', CNPJ);
  });
  afterAll(() => operator.close());

  const doctor = async (): Promise<string> => {
    const { out, err } = await operator.run('doctor');
    return `${out}${err}`.split('\n').find((line) => line.includes('master key')) ?? '';
  };

  describe('with one generation', () => {
    it('shows that it seals', async () => {
      expect((await operator.run('master-key', 'status')).out).toMatch(
        /^m1 {3}[0-9a-f]{16} {2}seals; 1 certificate, 0 day keys and 0 signing keys are under it; since \S+Z$/,
      );
      expect(await doctor()).toMatch(/^ok .*m1 seals$/);
    });

    it('refuses to rotate, and says how a generation is made', async () => {
      const result = await operator.run('master-key', 'rotate');
      expect(result).toEqual({ exit: 1, out: '', err: expect.stringContaining('nfse master-key add FILE') });
    });
  });

  describe('with a second one', () => {
    beforeAll(async () => {
      const added = await operator.run('master-key', 'add', file);
      expect(added).toMatchObject({ exit: 0, out: expect.stringContaining(`m2 was added to ${file}: copy the file`) });
      expect(added.out).not.toContain((await readFile(file, 'utf8')).split('m2:')[1]?.trim());
    });

    it('waits for the rotation, which doctor says', async () => {
      expect((await operator.runJson('master-key', 'status')).json).toMatchObject({
        generations: [
          { generation: 'm2', state: 'waiting', certificates: 0 },
          { generation: 'm1', state: 'sealing', certificates: 1 },
        ],
      });
      expect(await doctor()).toMatch(/^ok .*m1 seals, m2 waits in the key file -> nfse master-key rotate$/);
    });

    it('seals after it, with a bar on the way and who did it', async () => {
      const { exit, json } = await operator.runJson('master-key', 'rotate', '--actor', 'ana');
      expect([exit, json]).toEqual([0, { actor: 'ana', generation: 'm2', activated: true, resealed: 2 }]);
      expect(progress.join('')).toContain('100 %');
      expect((await operator.runJson('master-key', 'status')).json).toMatchObject({
        generations: [
          { generation: 'm2', state: 'sealing', certificates: 1, activated_by: 'support:ana' },
          { generation: 'm1', state: 'opening', certificates: 0 },
        ],
      });
      expect(await doctor()).toMatch(/^ok .*m2 seals$/);
    });

    it('is followed by a name that no generation had, also none that was given up', async () => {
      const { pool } = operator.database;
      await pool.query(`insert into vault_master_keys (generation, key_id, given_up_at) values ('m5', 'ff', now())`);
      const before = await readFile(file, 'utf8');
      expect((await operator.run('master-key', 'rotate')).err).toMatch(/: nfse master-key add FILE --generation m6$/);
      expect((await operator.run('master-key', 'add', file)).out).toContain(`m6 was added to ${file}`);

      const stray = `m5:${Buffer.alloc(32, 5).toString('base64')}`;
      await writeFile(file, `${before}${stray}\n`);
      expect((await operator.run('master-key', 'status')).out).toContain('m5   ff  given up');
      expect((await operator.run('master-key', 'status')).out).toContain('holds another key under this name');
      await pool.query(`delete from vault_master_keys where generation = 'm5'`);
    });

    it('is a finding of doctor while something is still under the first', async () => {
      const first = (await operator.session.masterKey.status()).find(({ generation }) => generation === 'm1')?.keyId;
      await operator.database.pool.query(
        `update vault_certificates set sealed = regexp_replace(sealed, '^vault:2:[^:]*', $1)`,
        [`vault:2:${first}`],
      );
      expect(await doctor()).toMatch(/^BAD .*1 certificate or key is still under .* -> nfse master-key rotate$/);
    });

    it('is a finding of doctor when a generation was lost, by name', async () => {
      await operator.database.pool.query(`insert into vault_master_keys (generation, key_id) values ('m3', 'ff')`);
      expect(await doctor()).toMatch(/^BAD .*generation m3 is not in the key file.* -> restore its line/);
      expect((await operator.run('master-key', 'status')).out).toContain('m3   ff  LOST');
      expect(await operator.run('master-key', 'rotate')).toMatchObject({
        exit: 1,
        err: expect.stringContaining('no master key of generation m3 is in'),
      });
    });
  });
});

describe('nfse master-key give-up', () => {
  const done = {
    generation: 'm1',
    sealing: 'm2',
    certificates: [`${CNPJ} c1`],
    dayKeys: [],
    signingKeys: ['ed25519:x'],
  };
  const asked: unknown[] = [];
  const run = (result: Result, ...argv: string[]) => outcomeOf(result, asked, argv);

  it('wants the reason, and the generation a second time, before it does anything', async () => {
    const why = ['--reason', 'burnt'];
    for (const words of [why, [...why, '--confirm', 'm2'], ['--confirm', 'm1'], ['--confirm', 'm1', '--reason', ' ']])
      expect(await run({ done }, 'm1', ...words)).toMatchObject({ exit: 2, out: [] });
    expect(asked).toEqual([]);
  });

  it('lists and counts what was taken out, and says what comes next', async () => {
    const { exit, out } = await run({ done }, 'm1', '--reason', 'burnt', '--confirm', 'm1', '--actor', 'ana');
    expect([exit, out.join('\n').split('\n')]).toEqual([
      0,
      [
        'm1 is given up, m2 seals from now on',
        '1 certificate removed',
        `  ${CNPJ} c1`,
        '0 keys of test days removed',
        '1 signing key of exports removed',
        '  ed25519:x',
        'Before the start: nfse certificate put CNPJ --pfx FILE --password-file FILE for each company',
      ],
    ]);
    expect(asked).toEqual([['m1', { actor: 'ana', reason: 'burnt' }]]);
  });

  it('says what was given up already, and ends as after the first call', async () => {
    const already = { generation: 'm1', givenUpAt: '2026-11-21T12:00:00.000Z', sealing: 'm2' };
    const words = ['m1', '--reason', 'burnt', '--confirm', 'm1', '--actor', 'ana'];
    expect(await run({ already }, ...words)).toEqual({
      exit: 0,
      out: [
        'm1 was given up already, at 2026-11-21T12:00:00.000Z; m2 seals. nfse doctor names each company whose certificate is missing',
      ],
      err: [],
    });
    const json = { actor: 'ana', generation: 'm1', given_up_at: already.givenUpAt, sealing: 'm2', changed: false };
    expect(JSON.parse((await run({ already }, ...words, '--json')).out.join(''))).toEqual(json);
    const none = await run({ already: { ...already, sealing: undefined } }, ...words);
    expect(none.out.join('')).toContain(
      '; no active generation is in the key file, and nfse master-key status says which is missing. ',
    );
  });

  it('says in one line why it was refused', async () => {
    const refused = await run({ refused: 'not lost' }, 'm1', '--reason', 'burnt', '--confirm', 'm1');
    expect(refused).toEqual({ exit: 1, out: [], err: ['not lost'] });
  });
});

type Result = Awaited<ReturnType<Parameters<typeof giveUpCommand>[0]>>;

const outcomeOf = async (result: Result, asked: unknown[], argv: readonly string[]) => {
  const [out, err]: [string[], string[]] = [[], []];
  const command = giveUpCommand(async (...words) => {
    asked.push(words);
    return result;
  });
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) };
  const noSession = () => Promise.reject(new Error('it opens no session'));
  return { exit: await runCommand(['master-key', 'give-up', ...argv], [command], noSession, terminal), out, err };
};
