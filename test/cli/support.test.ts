import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKeyUses } from '../../src/adapters/read-model-postgres/key-uses.js';
import { createParkedItems } from '../../src/adapters/read-model-postgres/parked-items.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { keyCommands } from '../../src/cli/commands/key.js';
import { parkedCommands } from '../../src/cli/commands/parked.js';
import { runCommand } from '../../src/cli/run.js';
import { companyStream, dpsStream, invoiceStream } from '../../src/domain/common/ids.js';
import { mirrorParked } from '../../src/runtime/roles/issuer.js';
import { eventually } from '../support/eventually.js';
import { accepted, attempted, authorized, cancelNotConfirmed, interrupted } from '../support/fixture/invoice.js';
import { contextAt } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const company = {
  ...{ cnpj: CNPJ, legal_name: 'ESTUDIO EXEMPLO LTDA', city: 'Rio de Janeiro', state: 'RJ', tax_regime: 'mei' },
  ...{ activities: [{ cnae: '6201501', is_main: true }] },
  ...{ automatic_issuance: true, issuer_configured: true, issuer_approved: true },
};
const ID = '11111111-1111-4111-8111-111111111111';
const STREAM = invoiceStream('live', CNPJ, ID);

describeWithPostgres('an operator who looks after the service', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([
      ...[...companyCommands, ...keyCommands, ...parkedCommands, ...invoiceCommands],
      doctorCommand,
    ]);
    await writeFile(join(operator.folder, 'company.json'), JSON.stringify(company));
    await operator.run('company', 'put', join(operator.folder, 'company.json'));
  });
  afterAll(() => operator.close());

  const doctorLine = async (name: string): Promise<string> => {
    const { out, err } = await operator.run('doctor');
    return `${out}${err}`.split('\n').find((line) => line.slice(5).startsWith(name)) ?? '';
  };

  it.each([
    ['invoice', 'resolve', ID],
    ['invoice', 'resolve', ID, '--as', 'gone', '--evidence', 'x'],
    ['invoice', 'resolve', ID, '--as', 'issued'],
    ['invoice', 'resolve', ID, '--as', 'issued', '--evidence', '  '],
    ['invoice', 'resolve', ID, '--as', 'failed', '--evidence', 'x', '--access-key', '1'],
    ['company', 'usage', CNPJ],
    ['company', 'usage', CNPJ, '--month', '2026-13'],
    ['parked', 'retry'],
    ['parked', 'retry', ID, '--all'],
    ['doctor', '--accept-unknown'],
    ['doctor', '--reconcile', '--span', '0'],
  ])('is told of bad usage by %s %s', async (...argv) => {
    expect((await operator.run(...argv)).exit).toBe(2);
  });

  it.each([
    ['invoice', 'resolve', ID, '--as', 'issued', '--evidence', 'x'],
    ['company', 'usage', '00000000000000', '--month', '2026-11'],
    ['parked', 'retry', ID],
  ])('is told that there is no such thing by %s %s', async (...argv) => {
    expect((await operator.run(...argv)).exit).toBe(1);
  });

  it('sees when a key was last used, and that one never was', async () => {
    const created = (await operator.runJson('key', 'create', CNPJ, '--mode', 'test')).json;
    expect((await operator.run('key', 'list', CNPJ)).out).toContain('never used');
    await createKeyUses(operator.database.pool).note(new Map([[String(created.id), '2026-11-21T12:34:56.000Z']]));
    await createKeyUses(operator.database.pool).note(new Map([[String(created.id), '2026-11-20T00:00:00.000Z']]));
    expect((await operator.run('key', 'list', CNPJ)).out).toContain('used 2026-11-21T12h');
    expect((await operator.runJson('key', 'list', CNPJ)).json).toMatchObject({
      keys: [{ last_used_at: '2026-11-21T12:34:56.000Z' }],
    });
  });

  it('sees what the in-process queue has parked, and has it tried again', async () => {
    const item = { kind: 'issue' as const, stream: STREAM, messageId: 'm', reason: 'failed 31 times' };
    let parked = [{ ...item, parkedAt: '2026-11-21T12:00:00.000Z' }];
    const queue = {
      parked: async () => parked,
      retryParked: async () => {
        parked = [];
        return true;
      },
    };
    const stop = new AbortController();
    const parkedItems = createParkedItems(operator.database.pool);
    const running = mirrorParked(queue, parkedItems, stop.signal, () => undefined, 10);
    await eventually(parkedItems.list, ({ length }) => length === 1);
    expect((await operator.run('parked', 'list')).out).toContain(`issue   nfse_${ID}`);
    expect(await doctorLine('queue')).toMatch(/^BAD .*1 work item parked -> nfse parked list/);
    expect(await operator.runJson('parked', 'retry', '--all')).toEqual({ exit: 0, json: { retried: 1 } });
    await eventually(parkedItems.list, ({ length }) => length === 0);
    stop.abort();
    await running;
    expect((await operator.run('parked', 'list')).out).toBe('nothing is parked');
    expect(await doctorLine('queue')).toMatch(/^ok {3}.*0 work items parked$/);
  });

  it('is told by doctor of stopped series, of open work that hangs, and of invoices that wait for support', async () => {
    const { store } = operator.session;
    const now = operator.session.clock.now();
    expect(await doctorLine('numbers')).toMatch(/^ok .*no series is stopped$/);
    const block = { nextNumber: 8, number: 7, invoiceId: ID, at: now };
    const context = contextAt(now, { mode: 'live', companyId: CNPJ });
    await store.append(
      dpsStream('live', CNPJ, '1'),
      { kind: 'none' },
      [{ type: 'DpsSeriesBlocked', data: block }],
      context,
    );
    expect(await doctorLine(`numbers ${CNPJ} live`)).toMatch(/^BAD .*series 1 is stopped.* -> nfse company put/);

    const ended = [accepted({ companyId: CNPJ, invoiceId: ID }), attempted(1, 1), interrupted];
    await store.append(STREAM, { kind: 'none' }, ended, contextAt(now, { mode: 'live', companyId: CNPJ }));
    const hanging = accepted({
      companyId: CNPJ,
      invoiceId: ID.replace(/1$/, '2'),
      acceptedAt: '2026-01-01T00:00:00.000Z',
    });
    const stream = invoiceStream('live', CNPJ, ID.replace(/1$/, '2'));
    await store.append(stream, { kind: 'none' }, [hanging], contextAt(now, { mode: 'live', companyId: CNPJ }));
    for (const name of ['invoices', 'deadlines'])
      expect(await operator.session.projections.rebuild(name, () => undefined)).toHaveProperty('done');
    expect(await doctorLine('indeterminate')).toMatch(
      new RegExp(`^BAD .*1 invoice waits for support: nfse_${ID} \\(live\\) -> nfse invoice resolve`),
    );
    expect(await doctorLine('open work')).toMatch(
      /^BAD .*stuck: 1 queued in live mode \(the oldest for \d+ d[\d h]*\) -> /,
    );
    expect(await doctorLine('clock live')).toMatch(/^ok .*not asked: no simulator has run here$/);
  });

  it('is told by doctor of cancellations that ended without confirmation, and for how long that is a fault', async () => {
    expect(await doctorLine('cancellations')).toMatch(
      /^ok .*none of the last 7 days .*, 0 without confirmation in all$/,
    );
    const now = operator.session.clock.now();
    const cancel = async (last: string, requestedAt: string, codes: readonly string[]) => {
      const invoiceId = ID.replace(/1$/, last);
      const data = { request: 1, reason: 'other', description: 'Nota emitida em duplicidade', requestedAt } as const;
      await operator.session.store.append(
        invoiceStream('live', CNPJ, invoiceId),
        { kind: 'none' },
        [
          ...[accepted({ companyId: CNPJ, invoiceId }), attempted(1, 1), authorized(1, 2)],
          { type: 'CancellationRequested', data },
          cancelNotConfirmed(3_700, codes),
        ],
        contextAt(now, { mode: 'live', companyId: CNPJ }),
      );
      expect(await operator.session.projections.rebuild('invoices', () => undefined)).toHaveProperty('done');
    };
    await cancel('3', '2026-01-01T00:00:00.000Z', []);
    await cancel('4', now, ['E0822']);
    expect(await doctorLine('cancellations')).toMatch(/^ok .*, 1 without confirmation in all$/);
    await cancel('5', now, []);
    expect(await doctorLine('cancellations')).toMatch(
      new RegExp(
        `^BAD .*1 of the last 7 days ended .*, 2 without confirmation in all: nfse_${ID.replace(/1$/, '5')} \\(live\\) -> nfse invoice resolve ID --as canceled`,
      ),
    );
  });

  it('is told of a log that was put back, and that nothing is paused without one', async () => {
    expect(await operator.run('doctor', '--reconcile')).toMatchObject({
      ...{ exit: 0, out: expect.stringContaining('issuing is not paused') },
    });
    await operator.session.markRestored();
    expect(await doctorLine('guards')).toMatch(/^BAD .*issuing is paused -> nfse doctor --reconcile$/);
    const compared = await operator.run('doctor', '--reconcile');
    expect(compared).toMatchObject({ exit: 0, out: expect.stringContaining('it has no certificate') });
    expect(await doctorLine('guards')).toBe('');
    expect((await operator.session.log.read(companyStream(CNPJ))).length).toBeGreaterThan(0);
  });

  it('is told show the version', async () => {
    const output: string[] = [];
    const terminal = { out: (text: string) => void output.push(text), err: () => undefined };
    const unused = () => Promise.reject(new Error('not needed'));
    expect(await runCommand(['--version'], [], unused, terminal, '1.2.3')).toBe(0);
    expect(await runCommand(['--version', '--json'], [], unused, terminal, '1.2.3')).toBe(0);
    expect(output).toEqual(['nfse 1.2.3', '{"version":"1.2.3"}']);
  });
});
