import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoices } from '../../../projections/invoices.js';
import { createPreviousGeneration } from '../../../src/adapters/read-model-postgres/kept-rows.js';
import { invoiceIdOfReference } from '../../../src/app/event-store/hashes.js';
import { deleteTestInvoice } from '../../../src/app/retention/test-retention.js';
import { auditCommands } from '../../../src/cli/commands/audit.js';
import { projectionCommands } from '../../../src/cli/commands/projections.js';
import { Interrupted } from '../../../src/cli/progress.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import { rebuildProjection } from '../../../src/projector/rebuild.js';
import { accepted, attempted, limits } from '../../support/fixture/invoice.js';
import { registerCompany } from '../../support/harness/audit.js';
import { appendTo } from '../../support/harness/event-store.js';
import { type Operator, openOperator } from '../../support/harness/operator.js';
import { createMemoryGuards } from '../../support/memory/guards.js';
import { describeWithPostgres } from '../../support/postgres.js';

const CNPJ = '12345678000195';
const idOf = (mode: Mode): string => invoiceIdOfReference(mode, CNPJ, 'pedido-1');

describeWithPostgres('the rows that are kept for a rollback or by an interrupted rebuild', () => {
  let operator: Operator;
  const test = invoiceStream('test', CNPJ, idOf('test'));
  const live = invoiceStream('live', CNPJ, idOf('live'));
  beforeAll(async () => {
    operator = await openOperator([...projectionCommands, ...auditCommands()]);
    const { store } = operator.session;
    await registerCompany(operator.session, CNPJ);
    const acceptedAt = addSeconds(operator.session.clock.now(), -limits.testRetentionSeconds);
    await appendTo(store, test, [accepted({ mode: 'test', invoiceId: idOf('test'), acceptedAt })], acceptedAt);
    await appendTo(store, live, [accepted({ invoiceId: idOf('live'), acceptedAt })], acceptedAt);
    for (const _generation of [1, 2]) await operator.run('projections', 'rebuild', 'invoices');
    const { log, clock } = operator.session;
    const interrupt = (): never => {
      throw new Interrupted();
    };
    const deps = { db: operator.database.pool, log, clock, onProgress: interrupt };
    const rebuild = rebuildProjection(invoices, new AbortController().signal, deps);
    await expect(rebuild).rejects.toThrow(Interrupted);
    // Later than the kept rows: a rollback has to fold it.
    await appendTo(store, test, [attempted(1, 1)], acceptedAt);
  });
  afterAll(() => operator.close());

  const PREVIOUS = 2;
  const BUILDING = 4;
  const kept = async (stream: string, generation = PREVIOUS) => {
    const table = `"p_invoices_v${invoices.version}_g${generation}".rows`;
    return (await operator.database.pool.query(`select * from ${table} where stream = $1`, [stream])).rows[0] as object;
  };

  it('lose a test invoice with its end and keep a live one, and a rollback makes of them what a rebuild does', async () => {
    for (const generation of [PREVIOUS, BUILDING])
      expect(await kept(test, generation)).toMatchObject({
        reference: 'pedido-1',
        state: expect.stringContaining('sealed:'),
      });
    const before = await kept(live);
    const { store, log, clock } = operator.session;
    await deleteTestInvoice(test, {
      store,
      log,
      clock,
      limits,
      actor: 'timer:sweeper' as const,
      ...createMemoryGuards(),
      previousGeneration: createPreviousGeneration(operator.database.pool),
    });
    const empty = { access_key: null, dps_id: null, reference: null, created_at: null, state: '{"kind":"deleted"}' };
    for (const generation of [PREVIOUS, BUILDING])
      expect(await kept(test, generation)).toMatchObject({ revision: 0, ...empty });
    expect(await kept(live)).toEqual(before);
    expect((await operator.run('projections', 'rollback', 'invoices')).exit).toBe(0);
    expect(await kept(test)).toMatchObject({ revision: 2, ...empty });
    for (const name of operator.session.projections.names) await operator.run('projections', 'rebuild', name);
    expect((await operator.run('audit', 'verify')).exit).toBe(0);
  });
});
