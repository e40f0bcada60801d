import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readImportedNote } from '../../src/adapters/authorizer/documents.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { importCommand } from '../../src/cli/commands/invoice-import.js';
import { invoiceViewCommands } from '../../src/cli/commands/invoice-views.js';
import { runCommand } from '../../src/cli/run.js';
import { DAY_SECONDS, epochMs } from '../../src/domain/common/time.js';
import { roles as allRoles } from '../../src/runtime/config/config.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import type { Service } from '../../src/runtime/roles/parts.js';
import { startService } from '../../src/runtime/service.js';
import { eventually } from '../support/eventually.js';
import type { LedgerNote } from '../support/harness/ledger.js';
import { type RunningClock, runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { loseEnd } from '../support/lost-end.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { becomesReady } from '../support/readiness.js';
import { runLogger } from '../support/run-logs.js';
import { untilServed } from '../support/until-served.js';

type Body = Record<string, unknown> & { id: string; status: string };

/** An older copy of the database is put back while nothing runs, and the service starts without the mark of a restore. */
describeWithPostgres('a copy of the log that lacks one note, which gives its number again', () => {
  let database: FreshDatabase;
  let running: RunningService;
  let service: Service;
  let folder: string;
  let clock: RunningClock;
  beforeEach(async () => {
    clock = runningClock();
    folder = await mkdtemp(join(tmpdir(), 'nfse-import-'));
    database = await freshDatabase();
    running = await startRunningService({ ...PROMPT, DATABASE_URL: database.connectionString }, undefined, clock);
    service = running.service;
  });
  afterEach(async () => {
    await service.stop();
    await running.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = async (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${running.keys.live}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const sale = (reference: string, amount: number) => ({
    amount_in_cents: amount,
    description: 'Consultoria',
    reference,
  });
  const accept = async (reference: string, amount: number): Promise<string> => {
    const answer = await ask('POST', '/v1/nfse', sale(reference, amount));
    const body = (await answer.json()) as Body;
    expect(answer.status, JSON.stringify(body)).toBe(202);
    return body.id;
  };
  const read = async (id: string): Promise<Body> => (await (await ask('GET', `/v1/nfse/${id}`)).json()) as Body;
  const becomes = (id: string, wanted: string) =>
    eventually(
      () => read(id),
      ({ status }) => status === wanted,
    );
  const notes = async (amount: number): Promise<readonly LedgerNote[]> => {
    const ledger = await fetch(`${service.simulator?.controlUrl ?? ''}/_control/ledger`);
    return ((await ledger.json()) as LedgerNote[]).filter(({ amount_in_cents }) => amount_in_cents === amount);
  };
  const operate = async (...argv: string[]): Promise<{ exit: number; out: string }> => {
    const out: string[] = [];
    const write = (text: string): void => void out.push(text);
    const runner = createRunner(() => undefined);
    const session = sessionOver(service.engines, running.config, clock, { logger: runLogger(), runner });
    const commands = [
      doctorCommand,
      ...auditCommands(),
      ...companyCommands,
      ...invoiceCommands,
      ...invoiceViewCommands,
      importCommand(async () => readImportedNote),
    ];
    const exit = await runCommand(argv, commands, async () => session, { out: write, err: write }).finally(() =>
      runner.stop(),
    );
    return { exit, out: out.join('\n') };
  };
  /** `nfse restore --mark`. */
  const mark = async (): Promise<void> => {
    const runner = createRunner(() => undefined);
    const parts = { logger: runLogger(), runner };
    await sessionOver(service.engines, running.config, clock, parts).markRestored();
    await runner.stop();
  };
  /** Issues one note and then this one, which the copy lacks. Resolves once the service runs over the copy. */
  const loseOneNote = async (reference: string, amount: number): Promise<string> => {
    await becomesReady(service.opsUrl);
    await becomes(await accept('kept', 70_001), 'issued');
    const { rows } = await database.admin.query<{ end: string }>('select position as end from event_log_head');
    await becomes(await accept(reference, amount), 'issued');
    await service.stop();
    await loseEnd(database, BigInt(rows[0]?.end ?? 0));
    service = await startService({ config: running.config, roles: allRoles, clock, logger: runLogger() });
    await becomesReady(service.opsUrl);
    const [note] = await notes(amount);
    return note?.access_key ?? '';
  };

  /** The repeat of the lost request has another text, and so meets its own note with other content. */
  const repeatOnAnotherDay = async () => {
    const key = await loseOneNote('lost', 80_001);
    const [lost] = await notes(80_001);
    const answer = await ask('POST', '/v1/nfse', { ...sale('lost', 80_001), description: 'Consultoria {{data}}' });
    const { id } = (await answer.json()) as Body;
    await eventually(
      () => operate('invoice', 'timeline', id),
      ({ out }) => out.includes('NumberConflictFound'),
    );
    const facts = { cnpj: lost?.cnpj, mode: 'live', origin: 'legacy', state: 'issued', amount_in_cents: 80_001 };
    return { key, id, line: { ...facts, access_key: key, issued_at: lost?.authorized_at } };
  };
  const importLine = async (line: object) => {
    const file = join(folder, 'line.ndjson');
    await writeFile(file, `${JSON.stringify(line)}\n`);
    return await operate('invoice', 'import', file);
  };
  /** The comparison lifts the stop, the repeat has its own note, and there is no second one. */
  const endsWithOneNote = async (id: string, key: string): Promise<void> => {
    const done = await operate('doctor', '--reconcile');
    expect(done.exit, done.out).toBe(0);
    expect(done.out).toContain('the series is not stopped any more: the next number is 3');
    await becomesReady(service.opsUrl);
    await becomes(await accept('next', 90_001), 'issued');
    expect(await read(id)).toMatchObject({ status: 'issued', access_key: key, reference: 'lost' });
    for (const amount of [80_001, 90_001]) expect(await notes(amount)).toHaveLength(1);
    expect(await operate('audit', 'verify', '--documents')).toMatchObject({ exit: 0 });
  };

  it('takes no line of another reference with the note while the repeat of another day waits to be sent', {
    timeout: 300_000,
  }, async () => {
    const { key, id, line } = await repeatOnAnotherDay();
    const refused = await importLine({ ...line, reference: 'order-77' });
    expect(refused.exit).toBe(1);
    expect(refused.out).toMatch(
      new RegExp(`${id} met this note .* is sent under the next number .* give it with "id":"${id}"`),
    );
    expect(await importLine({ ...line, id })).toMatchObject({ exit: 0 });
    await mark();
    await endsWithOneNote(id, key);
  });

  it('gives the repeat of another day its own note by the line that the comparison prints', {
    timeout: 300_000,
  }, async () => {
    const { key, id } = await repeatOnAnotherDay();
    await mark();
    const found = await operate('doctor', '--reconcile');
    const [, printed = ''] = /If so: nfse invoice import FILE\.ndjson with the line (\{.*?\})/.exec(found.out) ?? [];
    expect(JSON.parse(printed)).toMatchObject({ id, access_key: key });
    const line = JSON.parse(printed) as object;
    expect(await importLine({ ...line, id: undefined, reference: 'order-77' })).toMatchObject({ exit: 1 });
    expect(await importLine(line)).toMatchObject({ exit: 0 });
    await endsWithOneNote(id, key);
  });

  it('goes on after the comparison, which lifts the stop of the series', { timeout: 300_000 }, async () => {
    await loseOneNote('lost', 80_001);
    const first = await accept('sale-1', 90_001);
    await eventually(
      () => operate('doctor'),
      ({ out }) => /BAD +numbers .* series 1 is stopped/.test(out),
    );
    const second = await accept('sale-2', 90_002);
    await mark();
    expect(await operate('doctor', '--reconcile')).toMatchObject({
      exit: 1,
      out: expect.stringMatching(/BAD +note without invoice .* number 2,/),
    });
    const done = await operate('doctor', '--reconcile', '--accept-unknown');
    expect(done.exit, done.out).toBe(0);
    expect(done.out).toContain('the series is not stopped any more: the next number is 3');
    await becomesReady(service.opsUrl);
    await becomes(first, 'issued');
    await becomes(second, 'issued');
    expect((await operate('doctor')).out).not.toMatch(/BAD +numbers/);
    for (const amount of [80_001, 90_001, 90_002]) expect(await notes(amount)).toHaveLength(1);
    expect(await operate('audit', 'verify', '--documents')).toMatchObject({ exit: 0 });
  });

  it('goes on by the later number that doctor advises, once an open attempt meets the accepted note', {
    timeout: 300_000,
  }, async () => {
    await loseOneNote('lost', 80_001);
    const control = async (method: string, body?: object): Promise<void> => {
      const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      await fetch(`${service.simulator?.controlUrl ?? ''}/_control/faults`, body === undefined ? { method } : init);
    };
    await control('POST', { on: 'lookup', kind: 'http_404_html', times: 10_000 });
    const open = await accept('sale-1', 90_001);
    await eventually(
      () => operate('invoice', 'timeline', open),
      ({ out }) => out.includes('IssuanceOutcomeUnknown'),
    );
    await mark();
    await eventually(
      () => ask('GET', `/v1/nfse/${open}`),
      ({ status }) => status === 503,
    );
    await control('DELETE');
    const done = await operate('doctor', '--reconcile', '--accept-unknown');
    expect(done.exit, done.out).toBe(0);
    await becomesReady(service.opsUrl);
    const stopped = await eventually(
      () => operate('doctor'),
      ({ out }) => /BAD +numbers .* series 1 is stopped/.test(out),
    );
    expect(stopped.out).toMatch(
      /series 1 is stopped.* -> nfse company put FILE\.json with a dps\.live\.next_number after every note of the series\. Only where a copy/,
    );
    // What the advice leaves out does nothing here: the pause is over.
    expect((await operate('doctor', '--reconcile')).out).toContain('issuing is not paused');
    const [note] = await notes(80_001);
    const { out } = await operate('company', 'show', note?.cnpj ?? '', '--file');
    const file = JSON.parse(out) as { dps: { live: { next_number: number } } };
    file.dps.live.next_number = 3;
    const path = join(folder, 'company.json');
    await writeFile(path, JSON.stringify(file));
    const put = await operate('company', 'put', path);
    expect(put.exit, put.out).toBe(0);
    await becomes(open, 'issued');
    await becomes(await accept('sale-2', 90_002), 'issued');
    expect((await operate('doctor')).out).not.toMatch(/BAD +(?:numbers|indeterminate)/);
    for (const amount of [80_001, 90_001, 90_002]) expect(await notes(amount)).toHaveLength(1);
    expect(await operate('audit', 'verify', '--documents')).toMatchObject({ exit: 0 });
  });

  it('does not call the repeat of another day failed over its own note', { timeout: 300_000 }, async () => {
    const { key, id } = await repeatOnAnotherDay();
    clock.pass(3_700);
    await becomes(id, 'indeterminate');
    clock.pass(DAY_SECONDS);
    const waiting = await eventually(
      () => operate('invoice', 'waiting'),
      ({ out }) => out.includes(id),
    );
    expect(waiting.out).toContain(
      `a note with other content has its number; first compare it at the national portal -> nfse invoice resolve ${id} --as failed`,
    );
    const resolve = (as: string, ...more: string[]) =>
      operate('invoice', 'resolve', id, '--as', as, '--evidence', 'portal', ...more);
    expect(await resolve('issued')).toMatchObject({ exit: 1, out: expect.stringContaining('only --as failed') });
    expect(await resolve('failed')).toMatchObject({
      exit: 1,
      out: expect.stringMatching(new RegExp(`Compare note ${key} .* only a date .*--as failed --other-sale ${key}`)),
    });
    expect(await read(id)).toMatchObject({ status: 'indeterminate' });
    expect(await notes(80_001)).toHaveLength(1);
    expect(await resolve('failed', '--other-sale', key)).toMatchObject({ exit: 0 });
    await becomes(id, 'failed');
    expect(await operate('audit', 'verify')).toMatchObject({ exit: 0 });
  });

  it('gives the repeated request its own note, which had its number', { timeout: 300_000 }, async () => {
    const key = await loseOneNote('lost', 80_001);
    const [lost] = await notes(80_001);
    // A repeat of the same second gives the same DPS, so its look-up would find its own note.
    await eventually(
      async () => epochMs(clock.now()) - epochMs(lost?.authorized_at ?? ''),
      (passed) => passed > 1_000,
    );
    const again = await accept('lost', 80_001);
    await becomes(again, 'indeterminate');
    // The commands read rows, which the projector makes a moment after the event.
    const told = await eventually(
      () => operate('doctor'),
      ({ out }) => out.includes('BAD  indeterminate'),
    );
    expect(told.out).toMatch(/BAD +indeterminate .*equal content/);
    expect((await operate('invoice', 'waiting')).out).toContain(
      `a note with equal content has its number, and is its own where the client made one sale -> nfse invoice resolve ${again} --as issued`,
    );
    await mark();
    const found = await operate('doctor', '--reconcile');
    expect(found.exit).toBe(1);
    expect(found.out).toMatch(
      new RegExp(
        `BAD +note without invoice .*access key ${key}, .*may belong to ${again}, .* and is indeterminate -> ask the client .* If so: nfse invoice resolve ${again} --as issued --access-key ${key}`,
      ),
    );
    const [note] = await notes(80_001);
    const file = join(folder, 'notes.ndjson');
    const facts = { cnpj: note?.cnpj, mode: 'live', origin: 'legacy', state: 'issued' };
    const line = {
      ...facts,
      amount_in_cents: 80_001,
      access_key: key,
      issued_at: note?.authorized_at,
      reference: 'lost',
    };
    await writeFile(file, `${JSON.stringify(line)}\n`);
    expect(await operate('invoice', 'import', file)).toMatchObject({
      exit: 1,
      out: expect.stringContaining(`nfse invoice resolve ${again} --as issued`),
    });
    const settled = await operate('invoice', 'resolve', again, '--as', 'issued', '--evidence', 'portal');
    expect(settled.exit, settled.out).toBe(0);
    expect(settled.out).toContain(`access key ${key}, the note with its content under its number`);
    const done = await operate('doctor', '--reconcile');
    expect(done.exit, done.out).toBe(0);
    expect(done.out).toContain('the series is not stopped any more: the next number is 3');
    await becomesReady(service.opsUrl);

    expect(await read(again)).toMatchObject({ status: 'issued', access_key: key, reference: 'lost' });
    const xml = await ask('GET', `/v1/nfse/${again}/xml`);
    expect([xml.status, await xml.text()]).toEqual([200, expect.stringContaining(key)]);
    expect((await untilServed(() => ask('GET', `/v1/nfse/${again}/pdf`))).status).toBe(200);
    const repeated = await ask('POST', '/v1/nfse', sale('lost', 80_001));
    expect(await repeated.json()).toMatchObject({ error: { code: 'nfse.reference_in_use' } });
    await becomes(await accept('next', 90_001), 'issued');
    for (const amount of [80_001, 90_001]) expect(await notes(amount)).toHaveLength(1);
    expect((await operate('invoice', 'timeline', again)).out).toMatch(
      new RegExp(`settled as issued, access key ${key}`),
    );
    for (const audit of [['verify'], ['verify', '--documents']])
      expect(await operate('audit', ...audit)).toMatchObject({ exit: 0 });
    expect((await operate('doctor')).out).not.toMatch(/BAD +(?:numbers|indeterminate)/);
    expect(await operate('invoice', 'import', file)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('already'),
    });
  });
});
