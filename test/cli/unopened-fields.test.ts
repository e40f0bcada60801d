import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { invoiceViewCommands } from '../../src/cli/commands/invoice-views.js';
import { privacyCommand } from '../../src/cli/commands/privacy.js';
import { runCommand } from '../../src/cli/run.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { COMPANY, registration } from '../support/fixture/histories.js';
import * as life from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CPF = '11144477735';
const idOf = (reference: string): string => invoiceIdOfReference('live', COMPANY, reference);
const streamOf = (reference: string): string => invoiceStream('live', COMPANY, idOf(reference));
const BROKEN = streamOf('pedido-1');
const WHOLE = streamOf('pedido-2');
const LINE = `${BROKEN}@0: the sealed field customer cannot be opened`;

/** Edits by the owner of the database, who has no key. */
describeWithPostgres('a sealed field that was changed', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([
      ...auditCommands(),
      ...eventCommands,
      ...invoiceCommands,
      ...invoiceViewCommands,
      privacyCommand,
    ]);
    const { store, projections } = operator.session;
    const registered = { type: 'CompanyRegistered' as const, data: { registration, at: life.T0 } };
    await appendTo(store, `company-${COMPANY}`, [registered], life.T0);
    const customer = { type: 'br' as const, document: CPF, name: 'Maria' };
    for (const reference of ['pedido-1', 'pedido-2']) {
      const accepted = life.accepted({ companyId: COMPANY, invoiceId: idOf(reference), reference, customer });
      await appendTo(store, streamOf(reference), [accepted], life.T0);
    }
    await sql('create table kept as table event_log');
    await destroyCustomer();
    for (const name of projections.names) await projections.rebuild(name, () => undefined);
    await restore();
  });
  afterEach(() => restore());
  afterAll(() => operator.close());

  const sql = (text: string) => operator.database.admin.query(text);
  const restore = () =>
    sql(`update event_log as log set record = kept.record from kept where log.position = kept.position`);
  const edit = (stream: string, record: string) =>
    sql(`update event_log set record = ${record} where stream = '${stream}'`);
  /** The last bytes of the customer's text, which is followed by its quotation mark. */
  const destroyCustomer = () =>
    edit(BROKEN, `regexp_replace(record, '("customer":"sealed:[^"]*)[^"]{8}"', '\\1AAAAAAAA"')`);
  const nameGeneration = (generation: string) =>
    edit(BROKEN, `regexp_replace(record, 'sealed:1:m1:', 'sealed:1:${generation}:')`);
  const verify = () => operator.runJson('audit', 'verify', '--documents', '--skip-drift');

  it('is a finding of audit verify --documents', async () => {
    expect((await verify()).json.findings).toEqual([]);
    await destroyCustomer();
    const { exit, json } = await verify();
    expect(exit).toBe(1);
    expect(json.findings).toEqual(
      expect.arrayContaining([
        { kind: 'sealing', stream: BROKEN, revision: 0, detail: expect.stringContaining('field customer cannot be') },
      ]),
    );
  });

  it('is a finding when it names a key that never existed', async () => {
    await nameGeneration('m7');
    const { exit, json } = await verify();
    expect(exit).toBe(1);
    const detail = expect.stringContaining('neither the database nor the key file knows a key of generation m7');
    expect(json.findings).toEqual(expect.arrayContaining([{ kind: 'sealing', stream: BROKEN, revision: 0, detail }]));
  });

  it('ends the audit when it names a lost key, with the findings until then and what to restore', async () => {
    await sql(`insert into vault_master_keys (generation, key_id) values ('m2', '0123456789abcdef')`);
    await nameGeneration('m2');
    const told: string[] = [];
    const terminal = { out: () => undefined, err: (line: string) => void told.push(line), input: Readable.from([]) };
    const run = runCommand(['audit', 'verify', '--documents'], auditCommands(), async () => operator.session, terminal);
    await expect(run).rejects.toThrow('no master key of generation m2 is in');
    expect(told).toContainEqual(expect.stringContaining(`hash_mismatch  ${BROKEN}@0`));
    await sql(`delete from vault_master_keys where generation = 'm2'`);
  });

  it('is named by a privacy report, which reports the others', async () => {
    await destroyCustomer();
    const { exit, out } = await operator.run('privacy', 'report', CPF);
    expect(exit).toBe(1);
    expect(out).toContain('1 invoice names it');
    expect(out).toContain(LINE);
    expect((await operator.runJson('privacy', 'report', CPF)).json.unopened).toEqual([expect.stringContaining(LINE)]);
  });

  it('is named by a search by document, which finds the others', async () => {
    const { exit, out, err } = await operator.run('invoice', 'search', CPF, '--by', 'document');
    expect(exit).toBe(1);
    expect(err).toContain(LINE);
    expect(out).toContain(idOf('pedido-2'));
    expect(out).not.toContain(idOf('pedido-1'));
  });

  it('stays sealed in what events show and export reveal, and is named', async () => {
    await destroyCustomer();
    const shown = await operator.run('events', 'show', BROKEN, '--reveal');
    expect(shown).toMatchObject({ exit: 1, err: expect.stringContaining(LINE) });
    const file = join(operator.folder, 'log.ndjson');
    const exported = await operator.run('events', 'export', '--reveal', '--out', file);
    expect(exported).toMatchObject({ exit: 1, err: expect.stringContaining(LINE) });
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    const revealedOf = (stream: string) =>
      lines
        .map((line) => JSON.parse(line) as { stream: string; revealed?: object })
        .find((one) => one.stream === stream)?.revealed;
    expect(revealedOf(BROKEN)).toEqual({ description: 'Desenvolvimento de sistema' });
    expect(revealedOf(WHOLE)).toMatchObject({ customer: { document: CPF } });
  });
});
