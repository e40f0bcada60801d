import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadCompany, putCompanyFile } from '../../../src/app/operator/company/company-commands.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { type Operator, openOperator } from '../../support/harness/operator.js';
import { describeWithPostgres } from '../../support/postgres.js';

describeWithPostgres('an API key that is made and reaches nobody', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([]);
    await putCompanyFile(demoCompany(DEMO_CNPJ).registration, operator.session.companyDeps('ana'));
  });
  afterAll(() => operator.close());

  it.each([
    ['a pipe without a reader', '| true', '', 1],
    ['an output that is closed', '>&-', '', 0],
    ['a full disk', '> /dev/full', 'the output could not be written: ENOSPC: no space left on device, write\n', 1],
  ])('is named with its id where %s took it', async (_what, redirection, before, exit) => {
    if (redirection.includes('/dev/full') && !existsSync('/dev/full')) return;
    const { status, stderr } = spawnSync(
      'bash',
      [
        '-o',
        'pipefail',
        '-c',
        `"$0" --import tsx src/main.ts key create ${DEMO_CNPJ} --mode test ${redirection}`,
        process.execPath,
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        encoding: 'utf8',
        env: {
          PATH: process.env.PATH,
          DATA_DIR: operator.folder,
          DATABASE_URL: operator.database.connectionString,
          MASTER_KEY_FILE: join(operator.folder, 'master.key'),
        },
      },
    );
    const { state } = await loadCompany(DEMO_CNPJ, operator.session.store);
    const id = state.kind === 'company' ? state.keys.at(-1)?.keyId : undefined;
    expect({ status, stderr }).toEqual({
      status: exit,
      stderr: `${before}key ${id} was made and not shown: nfse key revoke ${id}, then make another\n`,
    });
  });
});
