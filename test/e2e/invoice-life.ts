import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { becomesReady } from '../support/readiness.js';
import { schemaFaults } from '../support/schema.js';
import { untilServed } from '../support/until-served.js';
import { verifySignature } from '../support/verify-signature.js';
import { expectAudited, expectSameRowsAfterRebuild } from './operator-proof.js';

type Body = Record<string, unknown> & {
  id: string;
  status: string;
  links?: { pdf: string; xml: string };
  cancellation?: { status: string };
};
type LedgerEntry = { access_key: string; amount_in_cents: number; canceled_at?: string; environment: string };

/** The engines of the service besides its database. */
type LifeEngines = {
  env: NodeJS.ProcessEnv;
  /** The log also has events of other runs; only the events of this run are checked. */
  isShared?: true;
  close(): Promise<void>;
};

/** The main job over HTTP, in both modes, with lost answers on the way; `open` starts the engines to try it on. */
export const invoiceLife = (title: string, open: () => Promise<LifeEngines>): void =>
  describeWithPostgres(title, () => life(open));

const life = (open: () => Promise<LifeEngines>): void => {
  /** References stay taken permanently, also those of earlier runs on the same log. */
  const run = randomUUID().slice(0, 8);
  let engines: LifeEngines;
  let running: RunningService;
  beforeAll(async () => {
    engines = await open();
    running = await startRunningService({ ...PROMPT, ...engines.env });
  });
  afterAll(async () => {
    await running?.close();
    await engines?.close();
  });

  const call = (mode: 'live' | 'test', method: string, path: string, body?: object, headers = {}) =>
    running.call<Body>(mode, method, path, body, headers);

  const outcomeOf = (mode: 'live' | 'test', id: string) =>
    eventually(
      async () => (await call(mode, 'GET', `/v1/nfse/${id}`)).body,
      ({ status, cancellation }) => !['queued', 'processing'].includes(status) && cancellation?.status !== 'pending',
    );

  const ledger = async (amount: number): Promise<LedgerEntry[]> =>
    ((await running.control('GET', '/_control/ledger')) as LedgerEntry[]).filter(
      (entry) => entry.amount_in_cents === amount,
    );

  const download = async (link: string) => {
    const response = await untilServed(() => fetch(link));
    expect(response.status).toBe(200);
    return Buffer.from(await response.arrayBuffer());
  };

  it.each(['test', 'live'] as const)('is issued, read, downloaded and canceled in %s mode', async (mode) => {
    const amount = mode === 'test' ? 123_456 : 123_457;
    const accepted = await call(mode, 'POST', '/v1/nfse', {
      amount_in_cents: amount,
      description: 'Desenvolvimento de sistema {{ano}}',
      customer: { document: '11222333000181', name: 'CLIENTE LTDA' },
      reference: `pedido-${mode}-${run}`,
    });
    expect(accepted).toMatchObject({
      status: 202,
      body: { status: 'queued', livemode: mode === 'live', failed_attempts: 0 },
    });
    expect(accepted.headers.get('location')).toBe(`/v1/nfse/${accepted.body.id}`);

    const issued = await outcomeOf(mode, accepted.body.id);
    expect(issued).toMatchObject({ status: 'issued', access_key: expect.stringMatching(/^\d{50}$/) });
    const xml = await download(issued.links?.xml ?? '');
    expect(schemaFaults('NFSe', xml)).toEqual([]);
    expect(verifySignature(xml, 'infNFSe')).toMatchObject({ ok: true });
    expect(xml.toString('utf8')).toContain(mode === 'live' ? '<tpAmb>1</tpAmb>' : '<tpAmb>2</tpAmb>');
    const pdf = await download(issued.links?.pdf ?? '');
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');

    expect(await call(mode, 'POST', `/v1/nfse/${issued.id}/cancel`, {})).toMatchObject({
      status: 202,
      body: { status: 'issued', cancellation: { status: 'pending', reason: 'other' } },
    });
    const canceled = await outcomeOf(mode, issued.id);
    expect(canceled).toMatchObject({
      status: 'canceled',
      cancellation: { status: 'succeeded' },
      access_key: issued.access_key,
    });
    expect('links' in canceled).toBe(mode === 'live');
    expect(await ledger(amount)).toMatchObject([
      { access_key: issued.access_key, canceled_at: expect.any(String), environment: mode },
    ]);
    if (mode === 'live') {
      const again = await download(canceled.links?.xml ?? '');
      expect(createHash('sha256').update(again).digest('hex')).toBe(createHash('sha256').update(xml).digest('hex'));
    }
  });

  it('fails with the authorizer’s reason in test mode, and a new request succeeds', async () => {
    await running.control('POST', '/_control/faults', {
      on: 'issue',
      kind: 'reject',
      code: 'E0190',
      times: 1,
      match: { amount_in_cents: 55_500 },
    });
    const accepted = await call('test', 'POST', '/v1/nfse', { amount_in_cents: 55_500, description: 'Recusada' });
    const failed = await outcomeOf('test', accepted.body.id);
    expect(failed).toMatchObject({
      status: 'failed',
      failed_attempts: 1,
      error: { code: 'issue_failed', message: expect.stringContaining('E0190') },
    });
    expect(await ledger(55_500)).toEqual([]);
    expect((await call('test', 'GET', `/v1/nfse/${failed.id}/xml`)).body).toMatchObject({
      error: { code: 'nfse.not_issued', retryable: false, provider_code: 'E0190' },
    });
  });

  it('is found by look-up when the answer was lost after the commit, and never sent twice', async () => {
    await running.control('POST', '/_control/faults', {
      on: 'issue',
      kind: 'lost_after_commit',
      times: 1,
      match: { amount_in_cents: 66_600 },
    });
    const accepted = await call('test', 'POST', '/v1/nfse', {
      amount_in_cents: 66_600,
      description: 'Resposta perdida',
    });
    expect(await outcomeOf('test', accepted.body.id)).toMatchObject({ status: 'issued', failed_attempts: 0 });
    expect(await ledger(66_600)).toHaveLength(1);
  });

  /** What the authorizer does to one send or cancellation, and how the invoice ends all the same. */
  const faults: readonly { on: string; kind: string; ends: 'issued' | 'canceled' }[] = [
    // Sent again with the same bytes after a proven absence.
    { on: 'issue', kind: 'lost_before_commit', ends: 'issued' },
    { on: 'issue', kind: 'http_503', ends: 'issued' },
    { on: 'issue', kind: 'http_429', ends: 'issued' },
    { on: 'issue', kind: 'garbage', ends: 'issued' },
    { on: 'issue', kind: 'reset', ends: 'issued' },
    { on: 'issue', kind: 'transient', ends: 'issued' },
    { on: 'event', kind: 'lost_after_commit', ends: 'canceled' },
    { on: 'event', kind: 'http_502_html', ends: 'canceled' },
  ];

  it('ends as it must after every kind of bad answer, with one note each', async () => {
    const ends = await Promise.all(
      faults.map(async ({ on, kind, ends: wanted }, index) => {
        const amount = 80_000 + index;
        await running.control('POST', '/_control/faults', {
          on,
          kind,
          times: 1,
          match: { amount_in_cents: amount },
        });
        const { body } = await call('live', 'POST', '/v1/nfse', { amount_in_cents: amount, description: kind });
        let end = await outcomeOf('live', body.id);
        if (wanted === 'canceled') {
          expect((await call('live', 'POST', `/v1/nfse/${body.id}/cancel`, {})).status).toBe(202);
          end = await outcomeOf('live', body.id);
        }
        const notes = await ledger(amount);
        const keys = notes.map(({ access_key }) => access_key);
        return { on, kind, ends: end.status, keys, key: end.access_key };
      }),
    );
    expect(ends).toEqual(faults.map((fault, at) => ({ ...fault, keys: [ends[at]?.key], key: ends[at]?.key })));
    expect(new Set(ends.map(({ key }) => key)).size).toBe(faults.length);
  });

  it('has a read model that an operator’s process rebuilds into the same rows', async () => {
    await expectSameRowsAfterRebuild(running);
  });

  it('passes an operator’s audit, and leaves a ready service', async () => {
    if (engines.isShared !== true) await expectAudited(running);
    await becomesReady(running.service.opsUrl);
  });
};
