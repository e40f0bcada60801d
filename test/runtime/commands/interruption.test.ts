import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auditCommands } from '../../../src/cli/commands/audit.js';
import { projectionCommands } from '../../../src/cli/commands/projections.js';
import { Interrupted } from '../../../src/cli/progress.js';
import { runCommand } from '../../../src/cli/run.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { accepted } from '../../support/fixture/invoice.js';
import { appendTo } from '../../support/harness/event-store.js';
import { type Operator, openOperator } from '../../support/harness/operator.js';
import { runProgram } from '../../support/harness/processes.js';
import { describeWithPostgres } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const ID = '11111111-1111-4111-8111-111111111111';

describeWithPostgres('a command that a signal interrupts', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator(projectionCommands);
    const { store, clock } = operator.session;
    const acceptedAt = clock.now();
    await appendTo(store, invoiceStream('live', '12345678000195', ID), [accepted({ acceptedAt })], acceptedAt);
    await operator.run('projections', 'rebuild', '--all');
  });
  afterAll(() => operator.close());

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s leaves no draft of an export, and ends with %s', async (signal, code) => {
    const folder = temporaryFolder();
    // Given an export that waits for the log in the middle of its work.
    const out = join(folder, 'log.ndjson');
    const program = runProgram(['test/runtime/commands/interrupted-child.ts', 'events', 'export', '--out', out], {
      DATA_DIR: operator.folder,
      DATABASE_URL: operator.database.connectionString,
      MASTER_KEY_FILE: join(operator.folder, 'master.key'),
      LOG_LEVEL: 'silent',
    });
    await expect.poll(() => readdirSync(folder)).toHaveLength(1);
    program.signal(signal);
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    expect(await program.ended, program.complaint()).toEqual({ code, signal: null });
    expect(program.output().stderr).toContain('interrupted');
  });

  it('drops the copy of the rows that a comparison with the log has made', async () => {
    const interruption = new AbortController();
    const interruptInComparison = (text: string): void => {
      if (text.includes('events folded')) interruption.abort();
    };
    const terminal = {
      out: () => undefined,
      err: () => undefined,
      progress: { isTTY: true, write: interruptInComparison },
      untilInterrupted: () => interruption.signal,
    };
    const verified = runCommand(['audit', 'verify'], auditCommands(), async () => operator.session, terminal);
    await expect(verified).rejects.toThrow(Interrupted);
    const { rows } = await operator.database.admin.query(
      `select nspname from pg_namespace where nspname ~ '^p_.*_g0$'`,
    );
    expect(rows).toEqual([]);
  });
});
