import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeBackup } from '../../src/adapters/embedded-postgres/backup.js';
import { decodeEvent } from '../../src/app/event-store/codec.js';
import { bodyHashOf, fingerprintOf } from '../../src/app/event-store/hashes.js';
import { ALL_STREAMS } from '../../src/domain/log/stream-prefixes.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { eventually } from '../support/eventually.js';
import { type Dictionary, guessBack, hashesIn, type StolenEvent, textsOf } from '../support/guessing.js';
import {
  type Body,
  type Mode,
  openRetentionHarness,
  personalBody,
  type RetentionHarness,
} from '../support/harness/retention.js';
import { plant } from '../support/planted.js';
import { describeWithPostgres } from '../support/postgres.js';
import { everyRow } from '../support/whole-database.js';

const RUN_MS = 300_000;

/** A CPF with its check digits, drawn from the whole space. */
const someCpf = (): string => {
  const digits = Array.from({ length: 9 }, () => randomInt(10));
  for (const length of [9, 10]) {
    const sum = digits.slice(0, length).reduce((total, digit, index) => total + digit * (length + 1 - index), 0);
    digits.push(((sum * 10) % 11) % 10);
  }
  return digits.join('');
};

describeWithPostgres('a thief of everything but the master key', () => {
  const planted = plant();
  const amounts = { live: [2_001, 2_002], test: [2_003, 2_004] } as const;
  let harness: RetentionHarness;
  let folder: string;
  /** As they lie in the log, and opened with the keys, for what the version before would have written. */
  let stored: readonly StolenEvent[];
  let opened: readonly StolenEvent[];

  /** The attacker knows what the company sells and the customers' names, but not their CPF. */
  const dictionary = (): Dictionary => ({
    descriptions: [
      'Consultoria',
      ...Object.values(amounts).flatMap((of) =>
        of.flatMap((one) => [one, one + 1_000].map((amount) => `${planted.description} ${amount}`)),
      ),
    ],
    names: [planted.customerName],
    documents: [...Array.from({ length: 60 }, someCpf), planted.cpf],
    cancelTexts: ['Cancelada a pedido', planted.cancelDescription],
  });
  const ended = (mode: Mode, id: string, status: string) =>
    eventually(
      async () => (await harness.call(mode, `/v1/nfse/${id}`)).body,
      (body) => body.status === status,
    );
  const issue = async (mode: Mode, amount: number): Promise<Body> => {
    const key = { 'idempotency-key': `${planted.idempotencyKey}-${amount}` };
    const { status, body } = await harness.call(mode, '/v1/nfse', personalBody(planted, amount), key);
    expect([status, body]).toEqual([202, expect.anything()]);
    return ended(mode, body.id, 'issued');
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-guessing-'));
    harness = await openRetentionHarness({});
    for (const mode of ['live', 'test'] as const) {
      for (const amount of amounts[mode]) await issue(mode, amount);
      const { id } = await issue(mode, amounts[mode][0] + 1_000);
      const cancel = { reason: 'other', description: planted.cancelDescription };
      expect((await harness.call(mode, `/v1/nfse/${id}/cancel`, cancel)).status).toBe(202);
      await ended(mode, id, 'canceled');
    }
    const { log, sealingKeys, pool } = harness.running.service.engines;
    const recorded = await log.readAll({ prefixes: ALL_STREAMS, after: null, limit: 10_000 });
    stored = recorded.map(({ stream, type, data }) => ({ stream, type, data }));
    opened = (await Promise.all(recorded.map((event) => decodeEvent(event, sealingKeys)))).map(
      ({ stream, type, data }) => ({ stream, type, data: data as Record<string, unknown> }),
    );
    expect((await harness.operate('events', 'export', '--out', join(folder, 'log.ndjson'))).exit).toBe(0);
    const options = { folder: join(folder, 'backup'), db: pool, madeAt: systemClock.now(), logIsHere: true };
    await writeBackup({ ...options, onProgress: () => undefined });
  }, RUN_MS);
  afterAll(async () => {
    await harness?.running.close();
    await rm(folder, { recursive: true, force: true });
  });

  const guessedIn = (text: string): readonly string[] => guessBack(stored, hashesIn(text), dictionary());

  it('guesses nothing by the rows of any table: log, read model, guards, memos', async () => {
    const rows = await everyRow(harness.running.service.engines.pool);
    for (const table of ['idempotency_keys', 'duplicate_marks'])
      expect(rows.filter((row) => row.table.endsWith(table)).length).toBeGreaterThan(0);
    const text = rows.map((row) => row.text).join('\n');
    expect(hashesIn(text).size).toBeGreaterThan(50);
    expect(guessedIn(text)).toEqual([]);
  });

  it('guesses nothing by an export', async () => {
    const text = await readFile(join(folder, 'log.ndjson'), 'utf8');
    expect(hashesIn(text).size).toBeGreaterThan(50);
    expect(guessedIn(text)).toEqual([]);
  });

  it('guesses nothing by a backup', async () => {
    const text = (await textsOf(join(folder, 'backup'))).join('\n');
    expect(hashesIn(text).size).toBeGreaterThan(50);
    expect(guessedIn(text)).toEqual([]);
  });

  it('guesses nothing by what support sees', async () => {
    const ids = stored.filter(({ type }) => type === 'InvoiceAccepted').map(({ data }) => `nfse_${data.invoiceId}`);
    expect(ids).toHaveLength(6);
    for (const id of ids) expect(guessedIn((await harness.operate('events', 'show', id)).out)).toEqual([]);
  });

  /** Events of the previous version, which had plain hashes of the fields that are sealed now. */
  const before = (type: string, plainOf: (event: StolenEvent) => Record<string, unknown>): string =>
    JSON.stringify(opened.filter((event) => event.type === type).map(plainOf));
  const amountOf = ({ data }: StolenEvent): number => Number(data.amountInCents);

  it('would have guessed the CPF by the body of before, and the description by the fingerprint', () => {
    const bodies = before('InvoiceAccepted', (event) => ({
      bodyHash: bodyHashOf(personalBody(planted, amountOf(event))),
    }));
    expect(guessedIn(bodies).join()).toContain(planted.cpf);
    const fingerprints = before('InvoiceAccepted', (event) => ({
      fingerprint: fingerprintOf(
        event.data.mode as Mode,
        String(event.data.companyId),
        amountOf(event),
        `${planted.description} ${amountOf(event)}`,
      ),
    }));
    expect(guessedIn(fingerprints).join()).toContain(planted.description);
  });

  it('would have guessed both by the digest of the DPS, and the reason by that of the cancellation', () => {
    const digests = before('IssuanceAttempted', ({ data }) => ({ digest: data.digest }));
    expect(guessedIn(digests).join()).toContain(planted.cpf);
    const requests = before('CancellationAttempted', ({ data }) => ({ digest: data.digest }));
    expect(guessedIn(requests)).toContain(planted.cancelDescription);
  });
});
