import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { anchorLog } from '../../src/app/audit/anchor-log.js';
import { headOf, isSignedBy, type Manifest, signedText } from '../../src/app/audit/manifest.js';
import { invoiceIdOfReference, sha256Hex } from '../../src/app/event-store/hashes.js';
import type { Command } from '../../src/cli/command.js';
import { auditCommands } from '../../src/cli/commands/audit.js';
import { companyCommands } from '../../src/cli/commands/company.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { eventCommandsUntil } from '../../src/cli/commands/events.js';
import { runCommand } from '../../src/cli/run.js';
import { dpsStream, invoiceStream } from '../../src/domain/common/ids.js';
import { addSeconds } from '../../src/domain/common/time.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { createAnchorer } from '../../src/workers/anchorer.js';
import { companyFile } from '../support/fixture/company.js';
import * as life from '../support/fixture/invoice.js';
import { gate } from '../support/gate.js';
import { appendTo } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const stop = new AbortController();
const commands: readonly Command[] = [
  ...companyCommands,
  ...auditCommands(),
  ...eventCommandsUntil(() => stop.signal),
  doctorCommand,
];

const CNPJ = '12345678000195';
const ID = invoiceIdOfReference('live', CNPJ, 'pedido-1');
const STREAM = invoiceStream('live', CNPJ, ID);
const CUSTOMER = 'CLIENTE LTDA';
const company = { ...companyFile, tax_regime: 'simples' };

type Shown = { stream: string; type: string; revision: number; position: string; data: object; revealed?: object };
type Report = { ok: boolean; events: number; streams: number; findings: { kind: string; stream?: string }[] };

describeWithPostgres('an auditor at the command line', () => {
  let operator: Operator;
  let aheadSeconds = 0;
  const clock = { now: () => addSeconds(systemClock.now(), aheadSeconds) };
  beforeAll(async () => {
    operator = await openOperator(commands, undefined, {}, clock);
    const { folder, session } = operator;
    await writeFile(join(folder, 'company.json'), JSON.stringify(company));
    await operator.run('company', 'put', join(folder, 'company.json'));
    const { store } = session;
    const record = async (stream: string, at: string, event: Parameters<typeof appendTo>[2][number]) =>
      await appendTo(store, stream, [event], at);
    await record(STREAM, life.T0, life.accepted({ companyId: CNPJ, invoiceId: ID }));
    const allocated = { number: 7, nextNumber: 8, invoiceId: ID, at: life.at(1) };
    await record(dpsStream('live', CNPJ, '1'), life.at(1), { type: 'DpsNumberAllocated', data: allocated });
    await record(STREAM, life.at(1), life.attempted(1, 1));
    await record(STREAM, life.at(10), life.authorized(1, 10));
  });
  afterAll(() => operator.close());

  const verify = async (...flags: string[]) => {
    const { exit, json } = await operator.runJson('audit', 'verify', ...flags);
    return { exit, report: json as Report };
  };
  const eventsOf = async (...argv: string[]) => (await operator.runJson(...argv)).json.events as Shown[];

  it('audit verify --documents opens what the log keeps, and is given by revision what is no document', async () => {
    const { exit, report } = await verify('--documents', '--skip-drift');
    expect(exit).toBe(1);
    expect(report.findings).toMatchObject([
      { kind: 'document', stream: STREAM, revision: 1, detail: 'the DPS cannot be unpacked' },
      { kind: 'document', stream: STREAM, revision: 2, detail: 'the NFS-e cannot be unpacked' },
    ]);
    expect(report).toMatchObject({ documents: { checked: 2, sealed: 0 } });
    expect((await operator.run('audit', 'verify', '--documents', '--skip-drift')).out).toContain(
      '2 signed documents checked',
    );
    expect((await verify('--skip-drift')).report).not.toHaveProperty('documents');
  });

  it('audit replay shows the body of each moment, without the token of its links, and goes on record', async () => {
    const at = async (instant: string) =>
      (await operator.runJson('audit', 'replay', `nfse_${ID}`, '--at', instant)).json;
    expect(await at('2026-11-21T11:59:59Z')).toEqual({ at: '2026-11-21T11:59:59.000Z', livemode: true, invoice: null });
    expect(await at(life.T0)).toMatchObject({ invoice: { status: 'queued', customer: { name: CUSTOMER } } });
    expect(await at(life.at(9))).toMatchObject({ invoice: { status: 'processing' } });
    expect(await at('2026-11-21T09:00:10-03:00')).toMatchObject({
      at: life.at(10),
      invoice: {
        status: 'issued',
        access_key: life.ACCESS_KEY,
        links: { pdf: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/v1\/nfse\/nfse_[0-9a-f-]{36}\/pdf$/) },
      },
    });
    const reveals = await eventsOf('events', 'show', 'audit-reveals');
    expect(reveals).toHaveLength(3);
    expect(reveals[0]).toMatchObject({
      type: 'PersonalDataRevealed',
      data: { command: 'audit replay', subject: STREAM },
    });
  });

  it('events show pages by revision, and shows personal data only on record', async () => {
    expect((await eventsOf('events', 'show', ID)).map(({ type }) => type)).toEqual([
      'InvoiceAccepted',
      'IssuanceAttempted',
      'Authorized',
    ]);
    const page = await operator.runJson('events', 'show', STREAM, '--from', '1', '--limit', '1');
    expect(page.json).toMatchObject({ events: [{ revision: 1 }], next: 2 });
    expect((await operator.run('events', 'show', ID, '--json')).out).not.toContain(CUSTOMER);
    const [first] = await eventsOf('events', 'show', ID, '--reveal', '--actor', 'maria');
    expect(first?.revealed).toMatchObject({ customer: { name: CUSTOMER } });
    expect(JSON.stringify(first?.data)).not.toContain(CUSTOMER);
    const last = (await eventsOf('events', 'show', 'audit-reveals')).at(-1);
    expect(last).toMatchObject({ data: { command: 'events show' }, meta: { actor: 'support:maria' } });
  });

  it('events search filters by type, company, time and actor, page by page', async () => {
    expect(await eventsOf('events', 'search', '--type', 'Authorized', '--company', CNPJ)).toMatchObject([
      { stream: STREAM },
    ]);
    const sinceAttempt = await eventsOf(
      'events',
      'search',
      '--since',
      life.at(1),
      '--until',
      life.at(10),
      '--company',
      CNPJ,
    );
    expect(sinceAttempt.map(({ type }) => type)).toEqual(['DpsNumberAllocated', 'IssuanceAttempted']);
    const ofOperators = await eventsOf('events', 'search', '--by', 'support:maria');
    expect(ofOperators.map(({ type }) => type)).toEqual(['PersonalDataRevealed']);
    const all: Shown[] = [];
    for (let after = '0'; ; ) {
      const { json } = await operator.runJson('events', 'search', '--company', CNPJ, '--limit', '2', '--after', after);
      all.push(...(json.events as Shown[]));
      if (json.next === undefined) break;
      after = String(json.next);
    }
    expect(all.map(({ position }) => position)).toEqual([...new Set(all.map(({ position }) => position))]);
    expect(all).toHaveLength(5);
  });

  it.each([
    ['company', 'usage', '00000000000000', '--month', '2026-11'],
    ['events', 'search', '--company', '00000000000000'],
    ['events', 'export', '--company', '00000000000000', '--out', 'export.jsonl'],
  ])('a CNPJ that no company has is refused in the same words by %s %s', async (...argv) => {
    const { exit, err } = await operator.run(...argv);
    expect([exit, err.trim()]).toEqual([1, 'no company 00000000000000']);
  });

  it.each([
    [['events', 'search', '--type', 'Nothing'], 2],
    [['events', 'search', '--company', '00000000000000'], 1],
    [['events', 'search', '--since', 'yesterday'], 2],
    [['events', 'search', '--since', '2026-02-30'], 2],
    [['audit', 'replay', ID, '--at', '2026-02-30T12:00:00Z'], 2],
    [['audit', 'replay', ID, '--at', '2199-01-01T00:00:00Z'], 2],
    [['events', 'search', '--limit', '0'], 2],
    [['events', 'search', '--after', '9223372036854775808'], 2],
    [['events', 'show', ID, '--from', '2147483648'], 2],
    [['events', 'tail', '--limit', 'all'], 2],
    [['events', 'show', 'nfse_00000000-0000-4000-8000-000000000000'], 1],
    [['events', 'show', 'audit-reveals', '--limit', '0'], 2],
    [['events', 'export'], 2],
    [['events', 'export', '--out', '/nowhere/at/all.ndjson'], 2],
    [['events', 'export', '--out', 'x', '--from', 'now'], 2],
    [['events', 'export', '--out', 'x', '--from', '2026-11-30', '--to', '2026-11-20'], 2],
    [['events', 'export', '--out', 'x', '--from', '2026-11-30', '--to', '2026-11-30'], 2],
    [['events', 'export', '--out', '-'], 2],
    [['audit', 'replay', ID], 2],
    [['audit', 'replay', '00000000-0000-4000-8000-000000000000', '--at', life.T0], 1],
    [['audit', 'verify', '--file', '/nowhere.ndjson'], 2],
    [['audit', 'verify', '--file', '/nowhere.ndjson', '--public-key', 'abc'], 2],
    [['audit', 'verify', '--anchors', '/nowhere/at/all'], 2],
    [['audit', 'verify', '--documents', '--file', '/nowhere.ndjson'], 2],
  ])('%j exits with %i and says why', async (argv, exit) => {
    const result = await operator.run(...argv);
    expect(result.exit).toBe(exit);
    expect(result.err.length).toBeGreaterThan(10);
  });

  it.each([
    [['events', 'export', '--out', '/nowhere/all.ndjson'], 'cannot be written: there is no folder /nowhere'],
    [['audit', 'verify', '--file', '/nowhere.ndjson'], 'cannot be read: there is no file /nowhere.ndjson'],
    [['audit', 'verify', '--anchors', '/nowhere'], 'cannot be read: there is no folder /nowhere'],
  ])('%j says what is missing', async (argv, reason) => {
    expect((await operator.run(...argv)).err).toContain(reason);
  });

  it('events export says that --out names a file, and makes none with the name -', async () => {
    const { err } = await operator.run('events', 'export', '--out', '-');
    expect(err).toBe('--out names a file; the manifest is written beside it');
    expect(['-', '-.manifest.json'].filter((name) => existsSync(name))).toEqual([]);
  });

  it('events show says that --from takes a revision', async () => {
    const { err } = await operator.run('events', 'show', ID, '--from', '2026-11-21T12:00:00Z');
    expect(err).toBe('--from takes a revision, a whole number from 0 to 2147483647');
  });

  it('events tail shows the last events, and goes on with those that come', async () => {
    expect((await eventsOf('events', 'tail', '--limit', '2')).map(({ stream }) => stream)).toEqual([
      'audit-reveals',
      'audit-reveals',
    ]);
    const tailed: string[] = [];
    const err = vi.fn();
    const terminal = { out: (text: string) => void tailed.push(text), err };
    const argv = ['events', 'tail', '--follow', '--json', '--limit', '1'];
    const following = runCommand(argv, commands, async () => operator.session, terminal);
    await expect.poll(() => tailed.length).toBe(1);
    await operator.run('company', 'enable', CNPJ);
    await expect.poll(() => tailed.length).toBe(2);
    expect(JSON.parse(tailed[1] ?? '')).toMatchObject({ type: 'CompanyEnabled', stream: `company-${CNPJ}` });
    stop.abort();
    expect(await following).toBe(0);
    expect(tailed).toHaveLength(2);
    expect(err).not.toHaveBeenCalled();
  });

  it('an export verifies with nothing but its manifest and the key that doctor prints', async () => {
    for (const name of ['log.ndjson', 'log.ndjson.gz']) {
      const file = join(operator.folder, name);
      const { exit, json } = await operator.runJson('events', 'export', '--out', file);
      expect(exit).toBe(0);
      const manifest = json as unknown as Manifest;
      expect(JSON.parse(await readFile(`${file}.manifest.json`, 'utf8'))).toEqual(json);
      const bytes = await readFile(file);
      expect(manifest).toMatchObject({ sha256: sha256Hex(bytes), bytes: bytes.length, file: name });
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      expect(text.trimEnd().split('\n')).toHaveLength(manifest.events);
      expect(text).not.toContain(CUSTOMER);
      const { out, err } = await operator.run('doctor');
      const [key = ''] = /ed25519:[\w-]{43}/.exec(out + err) ?? [];
      expect(manifest.public_key).toBe(key);
      expect(isSignedBy(key, signedText(headOf(manifest)), manifest.signature)).toBe(true);
      for (const flags of [['--public-key', key], []]) {
        expect(await verify('--file', file, ...flags)).toMatchObject({ exit: 0, report: { ok: true, findings: [] } });
      }
      await writeFile(join(operator.folder, 'key.txt'), `${key}\n`);
      expect(await verify('--file', file, '--public-key', join(operator.folder, 'key.txt'))).toMatchObject({ exit: 0 });
      const stranger = `ed25519:${Buffer.alloc(32, 7).toString('base64url')}`;
      const { exit: found, report } = await verify('--file', file, '--public-key', stranger);
      expect([found, report.findings.map(({ kind }) => kind)]).toEqual([1, ['unknown_signer']]);
      await writeFile(file, bytes.subarray(0, bytes.length - 9));
      expect((await verify('--file', file, '--public-key', key)).report.findings.map(({ kind }) => kind)).toContain(
        'file_changed',
      );
      await rm(`${file}.manifest.json`);
      const bare = await verify('--file', file, '--public-key', key);
      expect(bare.report.findings.map(({ kind }) => kind)).toContain('missing_manifest');
    }
  });

  it('an export overwrites nothing, unless it is told to', async () => {
    const file = join(operator.folder, 'once.ndjson');
    await writeFile(file, '');
    expect((await operator.run('events', 'export', '--out', file)).exit).toBe(0);
    const first = await readFile(file);
    const again = await operator.run('events', 'export', '--out', file, '--company', CNPJ);
    expect(again).toMatchObject({ exit: 1, err: expect.stringContaining('is there already') });
    expect(await readFile(file)).toEqual(first);
    expect(await operator.run('events', 'export', '--out', file, '--company', CNPJ, '--replace')).toMatchObject({
      exit: 0,
    });
    expect(await verify('--file', file)).toMatchObject({ exit: 0 });
  });

  it('an export that fails leaves the one that it was to replace, with its manifest', async () => {
    const file = join(operator.folder, 'kept.ndjson');
    expect((await operator.run('events', 'export', '--out', file)).exit).toBe(0);
    const both = () => Promise.all([file, `${file}.manifest.json`].map((one) => readFile(one, 'utf8')));
    const before = await both();
    const broken = vi.spyOn(operator.session.exportSigner, 'sign').mockRejectedValueOnce(new Error('no key'));
    const replacing = operator.run('events', 'export', '--out', file, '--company', CNPJ, '--replace');
    await expect(replacing.finally(() => broken.mockRestore())).rejects.toThrow('no key');
    expect(await both()).toEqual(before);
    expect((await readdir(operator.folder)).filter((name) => name.endsWith('.draft'))).toEqual([]);
    expect(await verify('--file', file)).toMatchObject({ exit: 0 });
  });

  it('an export that a second one into the same file overtakes is refused, and leaves the file and the manifest of the second', async () => {
    const file = join(operator.folder, 'overtaken.ndjson');
    expect((await operator.run('events', 'export', '--out', file)).exit).toBe(0);
    const { exportSigner } = operator.session;
    const [asked, signed] = [gate(), gate()];
    const sign = exportSigner.sign.bind(exportSigner);
    const slow = vi.spyOn(exportSigner, 'sign').mockImplementationOnce(async (text) => {
      asked.open();
      await signed.opened;
      return await sign(text);
    });
    const first = operator.run('events', 'export', '--out', file, '--company', CNPJ, '--replace');
    await asked.opened;
    const second = await operator.run('events', 'export', '--out', file, '--replace');
    signed.open();
    const overtaken = await first.finally(() => slow.mockRestore());
    expect(second.exit).toBe(0);
    expect(await verify('--file', file)).toMatchObject({ exit: 0 });
    expect(overtaken).toMatchObject({
      exit: 1,
      err: `${file} was not written: another export into this file began before this one ended`,
    });
    expect((await readdir(operator.folder)).filter((name) => name.endsWith('.draft'))).toEqual([]);
  });

  it('an export may be of one company and a stretch of time, and show personal data on record', async () => {
    const file = join(operator.folder, 'part.ndjson');
    const flags = ['--company', CNPJ, '--from', life.at(1), '--to', life.at(10), '--reveal', '--actor', 'joana'];
    const { json } = await operator.runJson('events', 'export', '--out', file, ...flags);
    expect(json).toMatchObject({ events: 2, filter: { company: CNPJ, from: life.at(1), to: life.at(10) } });
    expect(await readFile(file, 'utf8')).toContain('"revealed":{"digest":"digest","signedDpsGzip":"H4sI"}');
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(await verify('--file', file)).toMatchObject({ exit: 0 });
    const { out } = await operator.run('audit', 'verify', '--file', file);
    expect(out).toContain('anchors not checked in a part: nothing is wrong');
    expect(out).toContain(`ONLY THE PART of company ${CNPJ}, recorded at or after ${life.at(1)}`);
    const verified = await operator.runJson('audit', 'verify', '--file', file);
    expect(verified.json).toMatchObject({ exported_at: json.exported_at, filter: json.filter });
    const last = (await eventsOf('events', 'show', 'audit-reveals')).at(-1);
    expect(last).toMatchObject({ data: { command: 'events export' }, meta: { actor: 'support:joana' } });
  });

  it('events export says that a part holds no event', async () => {
    const file = join(operator.folder, 'empty.ndjson');
    const { exit, err } = await operator.run('events', 'export', '--out', file, '--from', '2199-01-01');
    expect([exit, err]).toEqual([0, 'the part that was asked for is empty: no event was exported']);
  });

  it('audit verify compares the log with the anchors that were published', async () => {
    const { log, store, clock } = operator.session;
    const folder = join(operator.folder, 'anchors');
    const anchored: string[] = [];
    const anchorer = () =>
      createAnchorer({
        log,
        store,
        clock,
        actor: 'timer:anchorer',
        folder,
        onAnchored: ({ day }) => anchored.push(day),
      });
    const once = anchorer();
    await once();
    await once();
    await anchorer()();
    const day = clock.now().slice(0, 10);
    expect(anchored).toEqual([day, day]);
    expect(await eventsOf('events', 'search', '--type', 'LogAnchored')).toHaveLength(1);
    const file = join(folder, `anchor-${day}.json`);
    expect(await verify('--anchors', folder, '--skip-drift')).toMatchObject({
      exit: 0,
      report: { anchors: { anchors: 1 } },
    });
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace(/(?<="root": ")./, (first) => (first === 'f' ? '0' : 'f')),
    );
    const changed = await verify('--anchors', folder, '--skip-drift');
    expect(changed.report.findings.map(({ kind }) => kind)).toEqual(['anchor_mismatch']);
    await rm(file);
    await anchorer()();
    expect(await verify('--anchors', folder, '--skip-drift')).toMatchObject({ exit: 0 });
    await mkdir(join(operator.folder, 'none'));
    expect(await verify('--anchors', join(operator.folder, 'none'), '--skip-drift')).toMatchObject({
      exit: 1,
      report: { findings: [{ kind: 'anchor_missing', detail: expect.stringContaining('nothing was compared') }] },
    });
  });

  it('audit verify compares an export of the whole log with the anchors that were published before the export', async () => {
    const { log, store, clock } = operator.session;
    const folder = join(operator.folder, 'anchors-of-export');
    const actor = 'timer:anchorer';
    await createAnchorer({ log, store, clock, actor, folder, onAnchored: () => undefined })();
    const published = join(folder, `anchor-${clock.now().slice(0, 10)}.json`);
    aheadSeconds = 61;
    const file = join(operator.folder, 'anchored.ndjson');
    expect((await operator.run('events', 'export', '--out', file)).exit).toBe(0);
    aheadSeconds = 0;
    const compare = (...flags: string[]) => operator.run('audit', 'verify', '--file', file, '--anchors', ...flags);
    expect(await compare(folder)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 published anchors compared'),
    });

    const text = await readFile(published, 'utf8');
    const other = text.replace(/(?<="root": ")./, (first) => (first === 'f' ? '0' : 'f'));
    await writeFile(published, other);
    expect(await compare(folder)).toMatchObject({ exit: 1, out: expect.stringContaining('with another content') });
    const ofYesterday = text.replace(/"day": ".{10}"/, '"day": "2026-01-01"');
    await writeFile(published, ofYesterday);
    expect(await compare(folder)).toMatchObject({ exit: 1, out: expect.stringContaining('no such anchor') });
    const later = ofYesterday.replace(/"at": "..../, '"at": "2999');
    await writeFile(published, later);
    const onlyLater = await compare(folder);
    expect([onlyLater.exit, onlyLater.out]).toEqual([
      1,
      expect.stringContaining('0 published anchors compared, 1 later than the export left out'),
    ]);
    expect(onlyLater.out).toMatch(/is later than the export, which says that it was made at \S+: nothing was compared/);
    const name = published.replace(/[^/]+$/, 'anchor-2026-01-02.json');
    await writeFile(name, later);
    await writeFile(published, text);
    expect(await compare(folder)).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 published anchors compared, 1 later than the export left out'),
    });
    await rm(name);
    await rm(published);
    expect(await compare(folder)).toMatchObject({ exit: 1, out: expect.stringContaining('nothing was compared') });

    const part = join(operator.folder, 'part-of-anchored.ndjson');
    expect(await operator.run('events', 'export', '--out', part, '--company', CNPJ)).toMatchObject({ exit: 0 });
    expect(await operator.run('audit', 'verify', '--file', part, '--anchors', folder)).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--anchors needs an export of the whole log'),
    });
  });

  it('audit verify waits for another one that compares a read model', async () => {
    const other = await operator.database.admin.connect();
    try {
      await other.query(`select pg_advisory_lock(hashtextextended('audit invoices', 0))`);
      const free = () => other.query(`select pg_advisory_unlock_all()`);
      let freed: Promise<unknown> | undefined;
      const report = await operator.session.drift(({ isWaiting }) => {
        if (isWaiting) freed ??= free();
      });
      expect(freed).toBeDefined();
      expect(report.notCompared).toEqual([]);
    } finally {
      other.release(true);
    }
  });

  it('events search begins behind an anchor from well before --since, or behind --after where that is later', async () => {
    const { log, store, clock } = operator.session;
    const anchor = await anchorLog({ log, store, clock, actor: 'timer:anchorer' });
    const upTo = BigInt(anchor?.upTo ?? 0);
    const readAll = vi.spyOn(log, 'readAll');
    const begunBehind = async (...flags: string[]) => {
      readAll.mockClear();
      await operator.runJson('events', 'search', ...flags);
      return readAll.mock.calls[0]?.[0].after;
    };
    const since = ['--since', addSeconds(clock.now(), 3 * 86_400)];
    expect(await begunBehind(...since)).toBe(upTo);
    expect(await begunBehind(...since, '--after', String(upTo - 1n))).toBe(upTo);
    expect(await begunBehind(...since, '--after', String(upTo + 1n))).toBe(upTo + 1n);
    expect(await begunBehind()).toBeNull();
    readAll.mockRestore();
  });

  it('audit verify names each row of the read models that is not what the log makes of it', async () => {
    const { pool } = operator.database;
    // No projector runs here, so the rows lag behind; a lag is no drift.
    expect(await verify()).toMatchObject({ exit: 0 });
    const rebuilt = await rebuild(operator);
    expect(rebuilt).toMatchObject({ exit: 0, report: { ok: true, findings: [] } });
    const change = (sql: string) =>
      pool.query(sql.replace(/read\.(\w+)/g, (_all, name: string) => tableOf(definitions, name)));
    const definitions = await viewsOf(operator);
    await change(`update read.invoices set access_key = 'x' where stream = '${STREAM}'`);
    const drifted = await verify();
    expect(drifted.report.findings).toEqual([
      { kind: 'read_model_drift', stream: STREAM, detail: `invoices ${STREAM}: access_key differs` },
    ]);
    await change(`delete from read.invoices where stream = '${STREAM}'`);
    expect((await verify()).report.findings).toMatchObject([{ detail: `invoices ${STREAM}: the row is missing` }]);
    const left = await pool.query(`select from pg_namespace where nspname like '%_g0'`);
    expect(left.rowCount).toBe(0);
  });
});

const viewsOf = async ({ database }: Operator): Promise<ReadonlyMap<string, string>> => {
  const { rows } = await database.pool.query<{ name: string; version: number; generation: number }>(
    `select name, version, generation from checkpoints where role = 'live'`,
  );
  return new Map(rows.map(({ name, version, generation }) => [name, `"p_${name}_v${version}_g${generation}".rows`]));
};

const tableOf = (tables: ReadonlyMap<string, string>, name: string): string => tables.get(name) ?? name;

/** Brings every read model up to the log, as a projector would have done meanwhile. */
const rebuild = async (operator: Operator) => {
  const { projections } = operator.session;
  for (const name of projections.names) await projections.rebuild(name, () => undefined);
  const { exit, json } = await operator.runJson('audit', 'verify');
  return { exit, report: json as Report };
};
