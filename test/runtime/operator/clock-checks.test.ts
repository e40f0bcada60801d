import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateCommands } from '../../../src/cli/commands/certificate.js';
import { companyCommands } from '../../../src/cli/commands/company.js';
import { doctorCommand } from '../../../src/cli/commands/doctor.js';
import { systemClock } from '../../../src/runtime/engines/clock.js';
import { openAuthority, openServerIdentity } from '../../../src/simulator/authority.js';
import { companyFile } from '../../support/fixture/company.js';
import { type AuthorizerServer, startAuthorizerServer } from '../../support/harness/authorizer-server.js';
import { type Operator, openOperator } from '../../support/harness/operator.js';
import { describeWithPostgres } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const CNPJ = '12345678000195';

describeWithPostgres('the clock that doctor asks an authorizer for', () => {
  let server: AuthorizerServer;
  let operator: Operator;
  beforeAll(async () => {
    const folder = temporaryFolder();
    const authority = await openAuthority(folder, systemClock);
    server = await startAuthorizerServer(
      authority,
      await openServerIdentity(folder, authority, ['127.0.0.1'], systemClock),
    );
    const named = join(temporaryFolder(), 'ca.pem');
    await writeFile(named, (await openAuthority(temporaryFolder(), systemClock)).certificatePem);
    operator = await openOperator([...companyCommands, ...certificateCommands, doctorCommand], undefined, {
      AUTHORIZER_TEST_URL: server.address,
      AUTHORIZER_CA_FILE: named,
    });
    await writeFile(join(operator.folder, 'company.json'), JSON.stringify(companyFile));
    for (const argv of [
      ['company', 'put', join(operator.folder, 'company.json')],
      ['certificate', 'issue-demo', CNPJ],
      ['company', 'enable', CNPJ],
    ])
      expect(await operator.run(...argv)).toMatchObject({ exit: 0 });
  });
  afterAll(async () => {
    await operator.close();
    await server.close();
  });

  it('is unknown on a full disk, which has a line of its own beside all other checks', async () => {
    const { admin } = operator.database;
    await admin.query(`create function no_space() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`);
    await admin.query(
      'create trigger no_space before insert on event_log for each statement execute function no_space()',
    );
    try {
      const { exit, out } = await operator.run('doctor');
      expect(exit).toBe(1);
      expect(out).toMatch(/^BAD +database +no disk space: .* -> free space on the disk of the database/m);
      expect(out).toMatch(/^BAD +clock test +unknown: .* could not be recorded \(no disk space\)/m);
      expect(out).toMatch(/^ok +export key /m);
    } finally {
      await admin.query('drop trigger no_space on event_log');
    }
  });

  const doctorLine = async (): Promise<string> => {
    const { out, err } = await operator.run('doctor');
    return `${out}${err}`.split('\n').find((line) => line.includes('clock test')) ?? '';
  };
  it('is not read where no named authority vouches for it, and the cure names the variable', async () => {
    expect(await doctorLine()).toMatch(
      /^BAD .*could not be read \(SELF_SIGNED_CERT_IN_CHAIN\) -> name the authority .* in AUTHORIZER_CA_FILE, /,
    );
  });
});
