import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCertificateRefusals } from '../../src/adapters/read-model-postgres/certificate-refusals.js';
import { openPool } from '../../src/adapters/sql/pool.js';
import { certificateCommands } from '../../src/cli/commands/certificate.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { projectionCommands } from '../../src/cli/commands/projections.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import type { Role } from '../../src/runtime/config/config.js';
import { OLDER_SESSION, sessionOfRoles } from '../../src/runtime/engines/database.js';
import { eventually } from '../support/eventually.js';
import { companyFile } from '../support/fixture/company.js';
import { accepted } from '../support/fixture/invoice.js';
import { contextAt } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { runningClock } from '../support/harness/running-clock.js';
import { describeWithPostgres, lockWaits } from '../support/postgres.js';

const WITH_CERTIFICATE = ['11444777000161', '12345678000195', '98765432000198'];
const WITHOUT_CERTIFICATE = '11222333000181';

describeWithPostgres('what doctor prints', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([
      ...companyCommands,
      ...certificateCommands,
      ...projectionCommands,
      ...invoiceCommands,
      doctorCommand,
    ]);
    const path = join(operator.folder, 'company.json');
    for (const cnpj of [...WITH_CERTIFICATE, WITHOUT_CERTIFICATE]) {
      await writeFile(path, JSON.stringify({ ...companyFile, cnpj }));
      expect(await operator.run('company', 'put', path)).toMatchObject({ exit: 0 });
      await operator.run('company', 'enable', cnpj);
    }
    for (const cnpj of WITH_CERTIFICATE)
      expect(await operator.run('certificate', 'issue-demo', cnpj)).toMatchObject({ exit: 0 });
  });
  afterAll(() => operator.close());

  it('is one line for the good certificates of all companies, and the faults are at its end', async () => {
    const { exit, out } = await operator.run('doctor');
    const lines = out.split('\n');
    expect(exit).toBe(1);
    expect(lines.filter((line) => /certificate \d/.test(line) && line.startsWith('ok'))).toEqual([
      expect.stringMatching(
        /^ok {3}certificates +3 certificates; the first to end is certificate 1\d+, with \d+ days left$/,
      ),
    ]);
    const firstFault = lines.findIndex((line) => line.startsWith('BAD '));
    expect(lines.slice(firstFault).every((line) => line.startsWith('BAD '))).toBe(true);
    expect(lines.at(-1)).toMatch(new RegExp(`^BAD +certificate ${WITHOUT_CERTIFICATE} +none`));
  });

  const lineOf = async (): Promise<string> =>
    (await operator.run('doctor')).out.split('\n').find((line) => /^\S+ +service /.test(line)) ?? '';
  const sessionNamed = async (applicationName: string) => {
    const pool = openPool({ connectionString: operator.database.connectionString, max: 1, applicationName });
    await pool.query('select');
    return pool;
  };
  const processOf = (roles: readonly Role[]) => sessionNamed(sessionOfRoles(roles));

  it('names the roles that no process holds, and is no fault while no process runs', async () => {
    expect(await lineOf()).toMatch(/^ok +service +no process of the service uses this database -> nfse serve$/);
    const first = await processOf(['api', 'projector']);
    expect(await lineOf()).toMatch(
      /^BAD +service +no process holds relay, issuer, sweeper -> nfse serve --role relay,issuer,sweeper \(beside .*: with its own OPS_PORT\)$/,
    );
    const second = await processOf(['relay', 'issuer', 'sweeper']);
    expect(await lineOf()).toMatch(/^ok +service +each role is held by a process$/);
    await Promise.all([first.end(), second.end()]);
    // The server lists a session until its process has ended.
    await eventually(lineOf, (line) => line.includes('no process of the service uses this database'));
  });

  it('does not call a role missing that a process of an older version may hold, and asks for the anchors of the log', async () => {
    const older = await sessionNamed(OLDER_SESSION);
    expect(await lineOf()).toMatch(
      /^ok +service +a process of an older version runs, which does not say whether it holds api, projector, relay, issuer, sweeper -> /,
    );
    expect((await operator.run('doctor')).out).toMatch(/^ok +anchors /m);
    const api = await processOf(['api']);
    expect(await lineOf()).toMatch(
      /^ok +service +a process of an older version .* holds projector, relay, issuer, sweeper -> /,
    );
    const rest = await processOf(['projector', 'relay', 'issuer', 'sweeper']);
    expect(await lineOf()).toMatch(
      /^ok +service +each role is held by a process, and a process of an older version runs too -> /,
    );
    await rest.end();
    await older.end();
    await eventually(lineOf, (line) => line.startsWith('BAD '));
    await api.end();
  });

  it('names a certificate that was refused until another is stored, also of a company for which nothing waits', async () => {
    const [cnpj = ''] = WITH_CERTIFICATE;
    const isRefused = async (): Promise<boolean> => {
      await operator.run('projections', 'rebuild', 'companies');
      return (await operator.run('doctor')).out.includes(`refuses the certificate of CNPJ ${cnpj} in live mode`);
    };
    await operator.run('projections', 'rebuild', 'companies');
    const certificateId = (await operator.session.readModel.company(cnpj))?.certificate?.certificateId ?? '';
    const at = operator.session.clock.now();
    const refusal = { mode: 'live', companyId: cnpj, certificateId, reason: 'refused', at, probeAt: at } as const;
    await createCertificateRefusals(operator.database.admin).save(refusal);
    expect(await isRefused()).toBe(true);
    const invoiceId = '0b9a7a5e-3a44-4d5e-9f60-1c2d3e4f5a61';
    await operator.session.store.append(
      invoiceStream('live', cnpj, invoiceId),
      { kind: 'none' },
      [accepted({ companyId: cnpj, invoiceId, acceptedAt: at })],
      contextAt(at, { mode: 'live', companyId: cnpj }),
    );
    const heldBack = async (): Promise<string | undefined> =>
      /^held back: .*$/m.exec((await operator.run('invoice', 'timeline', `nfse_${invoiceId}`)).out)?.[0];
    expect(await heldBack()).toBe(
      `held back: the authorizer refuses the company's certificate in live mode since ${at} (refused) -> nfse certificate put ${cnpj} --pfx FILE --password-file FILE`,
    );
    expect(await operator.run('certificate', 'issue-demo', cnpj)).toMatchObject({ exit: 0 });
    expect(await isRefused()).toBe(false);
    expect(await heldBack()).toBeUndefined();
  });

  it('compares the clock with the database server’s, and a difference of more than half a minute is BAD', async () => {
    expect((await operator.run('doctor')).out).toMatch(/^ok +clock database +(?:the same as )?the database server's/m);
    const ahead = runningClock();
    ahead.pass(90);
    const other = await openOperator([doctorCommand], undefined, {}, ahead);
    try {
      expect((await other.run('doctor')).out).toMatch(
        /^BAD +clock database +the database server's is \d+ s behind ours -> set this machine's clock \(NTP\)$/m,
      );
    } finally {
      await other.close();
    }
  });

  it('is BAD for a server that does not write to its disk, as that of the tests', async () => {
    expect((await operator.run('doctor')).out).toMatch(/^BAD +database durability +fsync and full_page_writes off: /m);
  });

  it('names the session for which sessions of the service wait, without the text of its statement', async () => {
    const blocker = await operator.database.admin.connect();
    const service = openPool({
      connectionString: operator.database.connectionString,
      max: 1,
      applicationName: 'nfse-under-test',
    });
    try {
      await blocker.query('begin; lock table idempotency_keys in share mode');
      const waiting = service.query(`delete from idempotency_keys where company_id = 'none'`);
      const pid = (await blocker.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
      await lockWaits(operator.database, 1);
      const line = (await operator.run('doctor')).out.split('\n').find((text) => text.includes('database lock')) ?? '';
      expect(line).toMatch(
        new RegExp(
          `^BAD +database lock +session ${pid} of \\w+ \\(test-admin\\) holds a lock that 1 session of the service waited for, .* since 20\\S+Z -> .*pg_terminate_backend\\(${pid}\\)$`,
        ),
      );
      await blocker.query('rollback');
      await waiting;
      expect((await operator.run('doctor')).out).not.toContain('database lock');
    } finally {
      blocker.release(true);
      await service.end();
    }
  });

  it('is a check for each certificate with --json', async () => {
    const { checks } = (await operator.runJson('doctor')).json as { checks: { name: string }[] };
    const names = checks.map(({ name }) => name).filter((name) => name.startsWith('certificate'));
    expect(names.toSorted()).toEqual(
      [...WITH_CERTIFICATE, WITHOUT_CERTIFICATE].map((cnpj) => `certificate ${cnpj}`).toSorted(),
    );
  });
});
