import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoices } from '../../projections/invoices.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

type Check = { name: string; ok: boolean; detail: string; cure?: string };

describeWithPostgres('nfse doctor over rows of a version that this program cannot read', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([doctorCommand]);
  });
  afterAll(() => operator.close());

  const doctor = async () => {
    const { json } = await operator.runJson('doctor');
    const { checks } = json as { checks: Check[] };
    return {
      names: checks.map(({ name }) => name),
      of: (wanted: string) => checks.find(({ name }) => name === wanted),
    };
  };

  it('says so of the projection and of what its rows would tell, and makes all other checks', async () => {
    const { pool } = operator.database;
    const before = await doctor();
    await pool.query('drop view read.invoices');
    await pool.query(`create view read.invoices as
      select stream, revision, mode, company_id, invoice_id, access_key, dps_id, reference, created_at, state
      from p_invoices_v${invoices.version}_g1.rows`);
    await pool.query(`update checkpoints set version = 2, compatible_from = 2 where name = 'invoices'`);
    const { names, of } = await doctor();
    // A second check of the layouts, which is made with the first.
    expect(names).toEqual(before.names.filter((name) => name !== 'layout announced'));
    expect(of('projection invoices')).toEqual({
      name: 'projection invoices',
      ok: false,
      detail: 'has rows of version 2, which this program cannot read',
      cure: expect.stringContaining('nfse projections status'),
    });
    for (const name of ['indeterminate', 'cancellations'])
      expect(of(name)).toMatchObject({ ok: false, detail: expect.stringContaining('(invoices)') });
    expect(of('projection deadlines')).toEqual(before.of('projection deadlines'));
  });

  it('names the newer program where the rows are newer', async () => {
    await operator.database.pool.query(
      `update checkpoints set version = $1, compatible_from = $1 where name = 'invoices'`,
      [invoices.version + 1],
    );
    expect((await doctor()).of('projection invoices')).toMatchObject({
      detail: `has rows of version ${invoices.version + 1}, which this program cannot read`,
      cure: expect.stringContaining('newer version'),
    });
  });
});
