import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { eventCommands } from '../../src/cli/commands/events.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { COMPANY, registration } from '../support/fixture/histories.js';
import * as life from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

type Finding = { kind: string; stream?: string; revision?: number; detail: string };

const ID = invoiceIdOfReference('live', COMPANY, 'pedido-1');
const INVOICE = invoiceStream('live', COMPANY, ID);
const COMPANY_STREAM = `company-${COMPANY}`;

/** Edits by the owner of the database, of rows and not of events: the hashes of the events stay right. */
describeWithPostgres('audit verify of a log whose rows were edited', () => {
  let operator: Operator;
  beforeAll(async () => {
    operator = await openOperator([...auditCommands(), ...eventCommands, ...invoiceCommands]);
    const { store, projections } = operator.session;
    await appendTo(
      store,
      COMPANY_STREAM,
      [{ type: 'CompanyRegistered', data: { registration, at: life.T0 } }],
      life.T0,
    );
    await appendTo(store, INVOICE, [life.accepted({ companyId: COMPANY, invoiceId: ID })], life.T0);
    for (const at of [1, 2]) {
      const seen = { command: 'events show', subject: INVOICE, at: life.at(at) };
      await appendTo(store, 'audit-reveals', [{ type: 'PersonalDataRevealed', data: seen }], life.at(at));
    }
    await appendTo(
      store,
      INVOICE,
      [{ type: 'NotProcessed', data: { failedAt: life.at(900), at: life.at(900) } }],
      life.at(900),
    );
    for (const name of projections.names) await projections.rebuild(name, () => undefined);
    await sql('create table kept as table event_log; create table kept_head as table event_log_head');
  });
  afterEach(() =>
    sql(`delete from event_log; insert into event_log select * from kept;
      update event_log_head set position = (select position from kept_head)`),
  );
  afterAll(() => operator.close());

  const sql = (text: string) => operator.database.admin.query(text);
  const found = async (): Promise<readonly Finding[]> =>
    (await operator.runJson('audit', 'verify')).json.findings as Finding[];

  it('finds nothing before the edit', async () => {
    expect(await found()).toEqual([]);
  });

  it.each([
    ['its stream, so that the API finds it no more', `stream = stream || 'x'`, `${INVOICE}x`, 1],
    ['its revision', 'revision = 7', INVOICE, 7],
    ['its type', `type = 'Authorized'`, INVOICE, 1],
    ['its id', 'id = gen_random_uuid()', INVOICE, 1],
    ['white space in its record', `record = replace(record, ',"NotProcessed",', ', "NotProcessed",')`, INVOICE, 1],
    ['a name twice in its record', `record = replace(record, '{"at":', '{"at":"x","at":')`, INVOICE, 1],
  ])('names the event whose row was given %s', async (_what, change, stream, revision) => {
    await sql(`update event_log set ${change} where stream = '${INVOICE}' and revision = 1`);
    expect(await found()).toMatchObject([{ kind: 'stored_otherwise', stream, revision }]);
  });

  it('names an event whose record was spelled in another way and hashed again', async () => {
    const record = `replace(record, ',"NotProcessed",', ', "NotProcessed",')`;
    const hash = `encode(sha256(convert_to(${record}, 'UTF8')), 'hex')`;
    await sql(`update event_log set record = ${record}, hash = ${hash} where stream = '${INVOICE}' and revision = 1`);
    expect(await found()).toMatchObject([{ kind: 'hash_mismatch', stream: INVOICE, revision: 1 }]);
  });

  it.each(['x', 'null', '[1]', '[2,"","s",0,"i","t",[],{}]', '[1,"","s","0","i","t",[],{}]'])(
    'names an event whose record is %s, which nobody can read',
    async (record) => {
      await sql(`update event_log set record = '${record}' where stream = '${INVOICE}' and revision = 1`);
      expect(await found()).toMatchObject([{ kind: 'unreadable_event', stream: INVOICE, revision: 1 }]);
    },
  );

  it('has it named by other commands that meet it, too', async () => {
    await sql(`update event_log set record = 'x' where stream = '${INVOICE}' and revision = 1`);
    const named = `${INVOICE}@1, at position 5 of the log, cannot be read: nfse audit verify names all such events`;
    for (const words of [
      ['events', 'show', INVOICE],
      ['events', 'search', '--type', 'Authorized'],
      ['events', 'tail'],
      ['events', 'export', '--out', join(operator.folder, 'log.ndjson')],
      ['audit', 'replay', ID, '--at', life.at(1)],
    ]) {
      await expect(operator.run(...words)).rejects.toThrow(named);
    }
  });

  it('has commands that show an event whose content was changed name the event, and end with exit 1', async () => {
    const words = [
      ['events', 'show', INVOICE],
      ['events', 'show', INVOICE, '--from', '1'],
      ['invoice', 'timeline', ID],
      ['audit', 'replay', ID, '--at', life.at(901)],
      ['events', 'export', '--out', join(operator.folder, 'edited.ndjson'), '--replace'],
    ];
    for (const argv of words) expect(await operator.run(...argv)).toMatchObject({ exit: 0, err: '' });
    await sql(`update event_log set record = replace(record, '{"at":"', '{"at":"2')
      where stream = '${INVOICE}' and revision = 1`);
    const named = `the log was changed: hash_mismatch  ${INVOICE}@1  the stored hash is not the hash of the stored event`;
    for (const argv of words) {
      expect(await operator.run(...argv)).toEqual({ exit: 1, err: named, out: expect.stringMatching(/./) });
    }
  });

  it('has an export of a part end with exit 1 where a stream lacks an event', async () => {
    await sql(`delete from event_log where stream = '${INVOICE}' and revision = 0`);
    const file = join(operator.folder, 'lacking.ndjson');
    const exported = await operator.run('events', 'export', '--out', file, '--company', COMPANY);
    const err = `the log lacks events: missing_revision  ${INVOICE}@1  the stream does not begin with revision 0`;
    expect(exported).toMatchObject({ exit: 1, err });
  });

  it('names a stream that is none of the service', async () => {
    await sql(`update event_log set stream = 'evil-1' where stream = 'audit-reveals' and revision = 1`);
    expect(await found()).toMatchObject([{ kind: 'stored_otherwise', stream: 'evil-1' }]);
  });

  it('tells of an event that was taken out where nothing else would miss it', async () => {
    await sql(`delete from event_log where stream = 'audit-reveals' and revision = 1`);
    expect((await found()).map(({ kind }) => kind)).toEqual(['missing_position']);
    await sql(`delete from event_log where stream = 'audit-reveals'`);
    expect(await found()).toContainEqual({
      kind: 'missing_position',
      detail: 'empty positions of the log: 2 (3 to 4); the ends of test invoices account for 0',
    });
  });

  it.each([
    ['missing_position', `delete from event_log where stream = 'audit-reveals' and revision = 0`],
    ['log_end', `delete from event_log where stream = '${INVOICE}' and revision = 1`],
  ])('an export of a log that has lost an event says so, and so does its reader: %s', async (kind, loss) => {
    await sql(loss);
    const file = join(operator.folder, `${kind}.ndjson`);
    const exported = await operator.run('events', 'export', '--out', file);
    expect(exported).toMatchObject({ exit: 1, err: expect.stringContaining(`the log lacks events: ${kind}  `) });
    const { exit, json } = await operator.runJson('audit', 'verify', '--file', file);
    expect(exit).toBe(1);
    expect((json.findings as Finding[]).map((finding) => finding.kind)).toContain(kind);
  });

  it('tells of events after the end that the log names, which no reader sees', async () => {
    await sql('update event_log_head set position = 4');
    expect((await found()).map(({ kind }) => kind)).toContain('log_end');
  });

  it('names a row that was edited and given a later revision, as one that its event has not reached yet', async () => {
    await sql(`update ${await tableOf('companies')} set enabled = true, revision = revision + 1`);
    expect(await found()).toMatchObject([
      { kind: 'read_model_drift', detail: `companies ${COMPANY}: enabled, revision differ` },
    ]);
    await sql(`update ${await tableOf('companies')} set enabled = false, revision = revision - 1`);
  });

  it('tells of a checkpoint past the end of the log, which would skip what comes', async () => {
    await sql(`update checkpoints set position = (position::int + 9)::text where name = 'companies'`);
    expect(await found()).toMatchObject([
      {
        kind: 'read_model_drift',
        detail: expect.stringMatching(/^not compared: companies: its checkpoint 10 is past the end/),
      },
    ]);
  });

  const tableOf = async (name: string): Promise<string> => {
    const { rows } = await operator.database.pool.query<{ version: number; generation: number }>(
      `select version, generation from checkpoints where role = 'live' and name = $1`,
      [name],
    );
    return `"p_${name}_v${rows[0]?.version}_g${rows[0]?.generation}".rows`;
  };
});
