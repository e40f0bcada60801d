import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import {
  carryOver,
  type EmbeddedAt,
  type EmbeddedHarness,
  openEmbeddedHarness,
} from '../support/harness/embedded-service.js';
import { putNextNumber } from '../support/harness/next-number.js';

const bodyOf = (amount: number) => ({
  amount_in_cents: amount,
  description: `Pedido ${amount}`,
  reference: `pedido-${amount}`,
});

/** Restored with the log, the database does not know that the next number was moved after the backup. */
const reconcile = ['doctor', '--reconcile', '--from', '12345678000195:live:1:1000'];

const idOf = async (at: EmbeddedAt, amount: number): Promise<string> => {
  const { status, body } = await at.ask('/v1/nfse', bodyOf(amount));
  expect(status, JSON.stringify(body)).toBe(202);
  return String(body.id);
};

const issued = (at: EmbeddedAt, id: string) =>
  eventually(
    async () => (await at.ask(`/v1/nfse/${id}`)).body,
    ({ status }) => status === 'issued',
  );

describe('a backup of the embedded database, put back while the authorizer has gone on', () => {
  const key = { live: '' };
  let old: EmbeddedHarness;
  let fresh: EmbeddedHarness;
  beforeEach(async () => {
    [old, fresh] = await Promise.all([openEmbeddedHarness(key), openEmbeddedHarness(key)]);
  });
  afterEach(async () => {
    await Promise.all([old.close(), fresh.close()]);
  });

  it('makes no second note: not of what the log knows, nor of what it has forgotten', {
    timeout: 300_000,
  }, async () => {
    const backup = join(old.folder, 'backup');
    const first = await old.start();
    await old.register(first);
    const known = await idOf(first, 1_001);
    await issued(first, known);
    await first.stop();
    // Accepted and not yet tried when the backup is made.
    const waiting = await old.start(['api', 'projector']);
    const open = [await idOf(waiting, 1_002), await idOf(waiting, 1_003)];
    const made = await waiting.operate('backup', '--out', backup);
    expect(made).toMatchObject({ exit: 0, out: expect.stringContaining('THE MASTER KEY IS NOT IN IT') });
    expect((await waiting.operate('backup', '--out', backup)).out).toContain('is not empty');
    await putNextNumber(waiting.service.engines, 1_000);
    await waiting.stop();
    const later = await old.start();
    for (const id of open) await issued(later, id);
    await issued(later, await idOf(later, 1_004));
    const before = await later.ledger();
    expect(before).toHaveLength(4);
    await later.stop();

    await carryOver(old, fresh, 'simulator', 'master.key');
    const restored = await fresh.restore(backup);
    expect(restored).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/Issuing is paused.*nfse doctor --reconcile --from.*revoked later is valid again/s),
    });
    // The key of the service confirms the backup that the command made.
    expect(restored.out).not.toContain('NOTHING CONFIRMS THE BACKUP');
    expect(await fresh.restore(backup)).toMatchObject({ exit: 1, out: expect.stringContaining('is not empty') });
    const paused = await fresh.start();
    expect(await paused.ask(`/v1/nfse/${known}`)).toMatchObject({ status: 503 });
    // One key of the very first start and one of the registration: the restore did not count as a first start.
    const ofCompanies = { prefixes: ['company-'], after: null, limit: 100 };
    const keys = await paused.service.engines.log.readAll(ofCompanies);
    expect(keys.filter(({ type }) => type === 'ApiKeyCreated')).toHaveLength(2);
    expect((await paused.operate('doctor')).out).toMatch(/BAD +guards .*-> nfse doctor --reconcile/);

    // Unreachable proves nothing, and nothing is recorded.
    const head = await paused.service.engines.log.head();
    await paused.control('/_control/faults', { on: 'lookup', kind: 'http_503', times: 1_000 });
    expect(await paused.operate(...reconcile)).toMatchObject({
      exit: 1,
      out: expect.stringContaining('proves nothing'),
    });
    await fetch(`${paused.service.simulator?.controlUrl}/_control/faults`, { method: 'DELETE' });
    const opened = await paused.service.engines.log.readAll({ prefixes: ['nfse', 'dps'], after: head, limit: 10 });
    expect(opened).toEqual([]);

    const compared = await paused.operate(...reconcile);
    expect(compared.exit).toBe(1);
    expect(compared.out).toContain('3 notes that the log does not have, 2 recorded on their open invoices');
    const lost = before.find(({ amount_in_cents }) => amount_in_cents === 1_004);
    const stranger = lost?.access_key ?? '';
    expect(compared.out).toMatch(new RegExp(`BAD +note without invoice .*${stranger}.*-> take it over`));
    expect(await paused.ask(`/v1/nfse/${known}`)).toMatchObject({ status: 503 });

    const file = join(fresh.folder, 'forgotten.ndjson');
    const forgotten = { cnpj: '12345678000195', mode: 'live', origin: 'legacy', state: 'issued' };
    const { amount_in_cents, reference } = bodyOf(1_004);
    const note = { access_key: stranger, issued_at: lost?.authorized_at };
    await writeFile(file, JSON.stringify({ ...forgotten, amount_in_cents, reference, ...note }));
    expect(await paused.operate('invoice', 'import', file)).toEqual({ exit: 0, out: expect.any(String) });
    const done = await paused.operate(...reconcile);
    expect(done).toMatchObject({ exit: 0, out: expect.stringContaining('issuing resumes within seconds') });
    expect(done.out).toMatch(/numbers \d+ to \d+ and 1000 to \d+: .*, the next number is 1003/);

    await eventually(
      async () => (await paused.ask(`/v1/nfse/${known}`)).status,
      (status) => status === 200,
    );
    for (const id of [known, ...open]) expect(await issued(paused, id)).toMatchObject({ status: 'issued' });
    expect(await paused.ask('/v1/nfse', bodyOf(1_004))).toMatchObject({
      status: 409,
      body: { error: { code: 'nfse.reference_in_use' } },
    });
    await issued(paused, await idOf(paused, 1_005));
    expect((await paused.ledger()).map((note) => note.amount_in_cents).toSorted()).toEqual([
      1_001, 1_002, 1_003, 1_004, 1_005,
    ]);
    await paused.stop();
  });

  it('by other means is paused by --mark in a service that runs, until the comparison has ended', {
    timeout: 300_000,
  }, async () => {
    const running = await old.start();
    await old.register(running);
    const known = await idOf(running, 1_001);
    await issued(running, known);
    const statusOf = async (): Promise<number> => (await running.ask(`/v1/nfse/${known}`)).status;
    expect(await running.operate('restore', '--mark')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('a service that runs sees it within 2 seconds'),
    });
    await eventually(statusOf, (status) => status === 503);
    expect((await running.ask('/v1/nfse', bodyOf(1_002))).status).toBe(503);
    expect(await running.operate('doctor', '--reconcile')).toMatchObject({ exit: 0 });
    await eventually(statusOf, (status) => status === 200);
    await issued(running, await idOf(running, 1_002));
    await running.stop();
  });
});
