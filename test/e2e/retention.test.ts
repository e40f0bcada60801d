import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadBackup, readManifest, writeBackup } from '../../src/adapters/embedded-postgres/backup.js';
import { migrations } from '../../src/adapters/sql/migrations/index.js';
import { createSealingKeys } from '../../src/adapters/vault/sealing-keys.js';
import { openCopiedField } from '../../src/app/event-store/codec.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import type { SealingKeys } from '../../src/ports/sealing-keys.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { type EventStoreDouble, startEventStoreDouble } from '../support/eventstore-double/double.js';
import { eventually } from '../support/eventually.js';
import {
  type Body,
  openRetentionHarness,
  personalBody,
  type RetentionHarness,
  type SealedLine,
  sealedInExport,
} from '../support/harness/retention.js';
import { plant, spellings } from '../support/planted.js';
import { describeWithPostgres, freshDatabase } from '../support/postgres.js';
import { everyRow, filesWith } from '../support/whole-database.js';

const DAY = 86_400;
const WEEK = 7 * DAY;
const RUN_MS = 300_000;

const engines: readonly { on: string; open(): Promise<EventStoreDouble | undefined> }[] = [
  { on: 'PostgreSQL', open: async () => undefined },
  { on: 'EventStoreDB, the double', open: () => startEventStoreDouble() },
];

describe.each(engines)('the end of a test invoice on $on', ({ open }) => {
  describeWithPostgres('with a live one of the same age beside it', () => {
    const gone = plant();
    // A unique document, so that a word found identifies its invoice.
    const kept = { ...plant(), cpf: '52998224725' };
    let double: EventStoreDouble | undefined;
    let harness: RetentionHarness;
    let folder: string;
    let test: { id: string; stream: string; body: Body }[];
    let live: { id: string; body: Body; pdf: Buffer; xml: Buffer };
    const sealedBefore: SealedLine[] = [];

    const streamOf = (mode: 'live' | 'test', id: string): string =>
      invoiceStream(mode, demoCompany().cnpj, id.slice('nfse_'.length));
    const ended = (mode: 'live' | 'test', id: string) =>
      eventually(
        async () => (await harness.call(mode, `/v1/nfse/${id}`)).body,
        ({ status, cancellation }) =>
          !['queued', 'processing'].includes(status) && (cancellation as { status?: string })?.status !== 'pending',
      );
    const issue = async (mode: 'live' | 'test', planted: typeof gone, amount: number): Promise<Body> => {
      const key = { 'idempotency-key': `${planted.idempotencyKey}-${amount}` };
      const posted = await harness.call(mode, '/v1/nfse', personalBody(planted, amount), key);
      expect([posted.status, posted.body]).toEqual([202, expect.anything()]);
      return ended(mode, posted.body.id);
    };
    /** The fields that can still be opened. */
    const opening = async (lines: readonly SealedLine[], keys: SealingKeys): Promise<readonly unknown[]> =>
      (await Promise.all(lines.map(({ stream, field, text }) => openCopiedField(text, stream, field, keys)))).filter(
        (value) => value !== undefined,
      );
    const ofTest = (lines: readonly SealedLine[]) => lines.filter(({ stream }) => stream.startsWith('nfseTest-'));
    const ofLive = (lines: readonly SealedLine[]) => lines.filter(({ stream }) => stream.startsWith('nfseLive-'));
    const created = (): string => test.map(({ body }) => body.created_at).sort()[2] ?? '';
    const pool = () => harness.running.service.engines.pool;
    const sql = async (text: string, values: unknown[] = []) => (await pool().query(text, values)).rows as unknown[];
    const streams = () => test.map(({ stream }) => stream);
    const words = Object.values(gone).flatMap(spellings);

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'nfse-retention-'));
      double = await open();
      harness = await openRetentionHarness(double === undefined ? {} : { EVENTSTORE_URL: double.url });
      const fault = { on: 'issue', kind: 'reject', times: 1, code: 'E0190', message: gone.authorizerText };
      await harness.running.control('POST', '/_control/faults', { ...fault, match: { amount_in_cents: 1_003 } });
      // A server that answers a document where a code belongs; the invoice is sent again.
      const odd = { on: 'issue', kind: 'reject', times: 1, code: gone.cpf, match: { amount_in_cents: 1_002 } };
      await harness.running.control('POST', '/_control/faults', odd);
      const bodies = [
        await issue('test', gone, 1_001),
        await issue('test', gone, 1_002),
        await issue('test', gone, 1_003),
      ];
      test = bodies.map((body) => ({ id: body.id, stream: streamOf('test', body.id), body }));
      const [, canceled] = test;
      const cancel = { reason: 'other', description: gone.cancelDescription };
      expect((await harness.call('test', `/v1/nfse/${canceled?.id}/cancel`, cancel)).status).toBe(202);
      expect(await ended('test', canceled?.id ?? '')).toMatchObject({ status: 'canceled' });
      const body = await issue('live', kept, 1_004);
      const { bytes: pdf } = await harness.bytes('live', `/v1/nfse/${body.id}/pdf`);
      const { bytes: xml } = await harness.bytes('live', `/v1/nfse/${body.id}/xml`);
      live = { id: body.id, body, pdf, xml };
      // Leaves the generation of before behind, for a rollback.
      expect((await harness.operate('projections', 'rebuild', 'invoices')).exit).toBe(0);
      expect((await harness.operate('events', 'export', '--out', join(folder, 'early.ndjson'))).exit).toBe(0);
      sealedBefore.push(...(await sealedInExport(join(folder, 'early.ndjson'))));
      const madeAt = systemClock.now();
      await writeBackup({
        folder: join(folder, 'backup'),
        db: pool(),
        madeAt,
        logIsHere: double === undefined,
        onProgress: () => undefined,
      });
    }, RUN_MS);
    afterAll(async () => {
      await harness?.running.close();
      await double?.close();
      await rm(folder, { recursive: true, force: true });
    });

    it('is whole a minute before: readable, in rows and events, and an export opens with the key of its day', async () => {
      harness.moveTo(test[0]?.body.created_at ?? '', WEEK - 60);
      const { status, body } = await harness.call('test', `/v1/nfse/${test[0]?.id}`);
      expect([status, body.customer]).toEqual([200, expect.objectContaining({ document: gone.cpf })]);
      for (const file of ['pdf', 'xml'])
        expect((await harness.bytes('test', `/v1/nfse/${test[0]?.id}/${file}`)).status).toBe(200);
      const opened = JSON.stringify(await opening(ofTest(sealedBefore), harness.running.service.engines.sealingKeys));
      for (const word of [gone.cpf, gone.customerName, gone.description, gone.cancelDescription])
        expect(opened).toContain(word);
      const texts = ofTest(sealedBefore).map(({ text }) => text);
      const rows = (await everyRow(pool())).filter(({ text }) => texts.some((sealed) => text.includes(sealed)));
      expect(rows.length).toBeGreaterThanOrEqual(3);
    });

    it('holds the document that an answer had in place of a code in no row, export or story in clear', async () => {
      const id = test[1]?.id ?? '';
      const { exit, out } = await harness.operate('events', 'show', id, '--json');
      expect([exit, out]).toEqual([0, expect.stringContaining('OTHER')]);
      const early = await readFile(join(folder, 'early.ndjson'), 'utf8');
      const inClear = [...(await everyRow(pool())).map(({ text }) => text), early, out].filter((text) =>
        spellings(gone.cpf).some((word) => text.includes(word)),
      );
      expect(inClear).toEqual([]);
    });

    it('is over at the instant for every read: 404, and an empty list for its reference', async () => {
      harness.moveTo(created(), WEEK);
      for (const { id } of test) {
        expect((await harness.call('test', `/v1/nfse/${id}`)).status).toBe(404);
        for (const file of ['pdf', 'xml'])
          expect((await harness.bytes('test', `/v1/nfse/${id}/${file}`)).status).toBe(404);
        expect((await harness.call('test', `/v1/nfse/${id}/cancel`, {})).status).toBe(404);
      }
      const reference = encodeURIComponent(`${gone.reference}-1001`);
      expect((await harness.call('test', `/v1/nfse?reference=${reference}`)).body).toMatchObject({ data: [] });
    });

    it('leaves of its events the last one alone, and of its rows an empty one', async () => {
      const { log } = harness.running.service.engines;
      await eventually(
        () => Promise.all(streams().map((stream) => log.read(stream))),
        (all) => all.every(([first, ...rest]) => first?.type === 'TestInvoiceDeleted' && rest.length === 0),
      );
      await eventually(
        () => sql('select stream from read.deadlines where stream = any($1)', [streams()]),
        (rows) => rows.length === 0,
      );
      const rows = () =>
        sql('select state, access_key, dps_id, reference, created_at from read.invoices where stream = any($1)', [
          streams(),
        ]);
      const empty = { state: '{"kind":"deleted"}', access_key: null, dps_id: null, reference: null, created_at: null };
      expect(await eventually(rows, (all) => all.every((row) => (row as typeof empty).reference === null))).toEqual(
        streams().map(() => empty),
      );
    });

    it('leaves no guard, memo, mark or parked work', async () => {
      await eventually(
        async () => [
          ...(await sql('select 1 from idempotency_keys')),
          ...(await sql('select 1 from duplicate_marks')),
          ...(await sql('select 1 from pending_cuts')),
          ...(await sql('select 1 from lookup_memos where stream = any($1)', [streams()])),
          ...(await sql('select 1 from parked_taps where stream = any($1)', [streams()])),
        ],
        (rows) => rows.length === 0,
      );
    });

    it('leaves no byte of the customer, the texts, the reference or the key in any table, sealed or in clear', async () => {
      const texts = ofTest(sealedBefore).map(({ text }) => text);
      const rows = await everyRow(pool());
      const left = rows.filter(({ text }) => [...words, ...texts].some((word) => text.includes(word)));
      expect(left).toEqual([]);
      const livesOn = ofLive(sealedBefore).map(({ text }) => text);
      expect(rows.filter(({ text }) => livesOn.some((sealed) => text.includes(sealed))).length).toBeGreaterThan(0);
    });

    it('leaves its file nowhere but at the stand-in of the authorizer', async () => {
      const places = await filesWith(harness.running.config.dataDir, words);
      expect(places.filter((place) => !place.startsWith('simulator/'))).toEqual([]);
    });

    it('leaves its reference taken', async () => {
      const again = await harness.call('test', '/v1/nfse', personalBody(gone, 1_001));
      expect([again.status, again.body.error]).toEqual([
        409,
        expect.objectContaining({ code: 'nfse.reference_in_use' }),
      ]);
    });

    it('has lost the key of its day two days later: no export and no backup of before opens any more', async () => {
      harness.moveTo(created(), 9 * DAY);
      await eventually(
        () => sql('select day from vault_day_keys where day <= $1', [created().slice(0, 10)]),
        (rows) => rows.length === 0,
      );
      const { sealingKeys } = harness.running.service.engines;
      expect((await opening(ofTest(sealedBefore), sealingKeys)).length).toBe(0);
      expect((await opening(ofLive(sealedBefore), sealingKeys)).length).toBe(ofLive(sealedBefore).length);
      const restored = await freshDatabase();
      try {
        const from = join(folder, 'backup');
        const target = { db: restored.admin, migrations, withRows: async () => undefined };
        await loadBackup(from, await readManifest(from), target, () => undefined);
        const { keyring } = harness.running.service.engines;
        const oldKeys = createSealingKeys({ keyring, db: restored.pool, clock: systemClock });
        expect((await opening(ofTest(sealedBefore), oldKeys)).length).toBe(0);
        expect((await opening(ofLive(sealedBefore), oldKeys)).length).toBe(ofLive(sealedBefore).length);
      } finally {
        await restored.close();
      }
    });

    it('is gone from the files of EventStoreDB with the next scavenge, and unreadable before it', async () => {
      if (double === undefined) return;
      const texts = ofTest(sealedBefore).map(({ text }) => text);
      const held = () =>
        (double?.log.all() ?? []).filter(({ data }) => texts.some((text) => Buffer.from(data).includes(text)));
      expect(held().length).toBeGreaterThan(0);
      double.log.scavenge();
      expect(held()).toEqual([]);
      const inClear = double.log.all().filter(({ data, metadata }) => {
        const stored = Buffer.concat([Buffer.from(data), Buffer.from(metadata)]);
        return words.some((word) => stored.includes(word));
      });
      expect(inClear).toEqual([]);
    });

    it('leaves the live invoice of the same age whole, and the log provable', async () => {
      expect(await harness.call('live', `/v1/nfse/${live.id}`)).toMatchObject({
        status: 200,
        body: { customer: live.body.customer, description: live.body.description, reference: live.body.reference },
      });
      expect((await harness.bytes('live', `/v1/nfse/${live.id}/pdf`)).bytes.equals(live.pdf)).toBe(true);
      expect((await harness.bytes('live', `/v1/nfse/${live.id}/xml`)).bytes.equals(live.xml)).toBe(true);
      const verified = await harness.operate('audit', 'verify', '--json');
      expect(JSON.parse(verified.out)).toMatchObject({ ok: true, findings: [] });
    });
  });
});
