import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../src/cli/run.js';
import { dpsStream } from '../../src/domain/common/ids.js';
import { allCommands } from '../../src/runtime/commands/main.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { readMonitoring, readRules } from '../support/alert-rules.js';
import { eventually } from '../support/eventually.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { appendTo } from '../support/harness/event-store.js';
import { runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { type ShownMetrics, scrape } from '../support/metrics-text.js';
import { describeWithPostgres } from '../support/postgres.js';
import { readPromql } from '../support/promql.js';
import { firing, type Played } from '../support/promql-play.js';
import { runLogger } from '../support/run-logs.js';

type Body = Record<string, unknown> & { id: string; status: string; cancellation?: { status: string } };

/** A look-up of a settlement is not repeated, so its time-out is long enough for a busy machine. */
const QUICK = { ...PROMPT, AUTHORIZER_TIMEOUT_S: '30', RECONCILE_SAMPLE_PERCENT: '0' };
const HOUR = 3_600;
/** Of a second company, which has no certificate at first. */
const CNPJ = '98765432000198';

/**
 * What the rule of a gauge asks for, without the time that it has to last. Undefined while the gauge has no series: the clock of this test passes an
 * hour, and rows that do not hold the event before that are an hour behind.
 */
const isOn = (alert: string, shown: ShownMetrics): boolean | undefined => {
  const [asked] = readRules()
    .filter((rule) => rule.alert === alert)
    .map(({ expr }) => readPromql(expr));
  const [metric = ''] = asked?.metrics ?? [];
  const wanted = (asked?.matchers ?? []).filter((matcher) => matcher.metric === metric);
  const matching = shown.samples.filter(
    ({ name, labels }) =>
      name === metric && wanted.every(({ label, operator, value }) => (labels[label] === value) === (operator === '=')),
  );
  return matching.length === 0 ? undefined : matching.some(({ value }) => value > 0);
};

/** Scrapes, one for each minute, as series. */
const playedFrom = (scrapes: readonly ShownMetrics[]): readonly Played[] =>
  (scrapes.at(-1)?.samples ?? []).map(({ name, labels }) => ({
    name,
    labels,
    values: scrapes.map((shown) => shown.value(name, labels)),
  }));

/** The text of the alert's section. */
const sectionOf = (alert: string): string => readMonitoring().split(`\n### ${alert}\n`)[1]?.split('\n### ')[0] ?? '';

describeWithPostgres('an operator does what the section of an alert says', () => {
  const clock = runningClock();
  let running: RunningService;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nfse-alerts-'));
    running = await startRunningService(QUICK, undefined, clock);
  });
  afterEach(() => running.control('DELETE', '/_control/faults'));
  afterAll(async () => {
    await running.close();
    await rm(folder, { recursive: true, force: true });
  });

  const call = async (method: string, path: string, body?: object): Promise<Body> =>
    (await running.call<Body>('live', method, path, body)).body;
  const read = (id: string, wanted: (body: Body) => boolean) => eventually(() => call('GET', `/v1/nfse/${id}`), wanted);
  const alertIs = (alert: string, on: boolean) =>
    eventually(
      async () => isOn(alert, await scrape(running.service.opsUrl)),
      (found) => found === on,
    );
  const fault = (on: string, kind: string, rest: object = {}) =>
    running.control('POST', '/_control/faults', { on, kind, times: 10_000, ...rest });

  /** Runs a command that the section names, with these words in place of its placeholders. */
  const type = async (alert: string, ...argv: readonly string[]): Promise<string> => {
    const { output, exit } = await run(...argv);
    const words = argv.slice(0, 2).filter((word) => !word.startsWith('-'));
    expect(sectionOf(alert).replaceAll(/\s+/g, ' ')).toContain(`nfse ${words.join(' ')}`);
    expect([argv, exit, output]).toEqual([argv, 0, output]);
    return output;
  };
  const run = async (...argv: readonly string[]): Promise<{ output: string; exit: number }> => {
    const runner = createRunner(() => undefined);
    const session = sessionOver(running.service.engines, running.config, clock, { logger: runLogger(), runner });
    const output: string[] = [];
    const write = (text: string): void => void output.push(text);
    const commands = allCommands({}, () => running.config);
    const exit = await runCommand(argv, commands, async () => session, { out: write, err: write });
    await runner.stop();
    return { output: output.join('\n'), exit };
  };
  /** Once the rows have caught up: a worker that opens a certificate appends to the company's stream. */
  const doctor = (): Promise<string> =>
    eventually(
      async () => (await run('doctor')).output,
      (output) => !output.includes('unknown until the projections have caught up'),
    );
  const companyFile = async (name: string, change: object): Promise<string> => {
    const { output } = await run('company', 'put', '--template', '--json');
    const file = join(folder, name);
    await writeFile(file, JSON.stringify({ ...(JSON.parse(output) as object), ...change }));
    return file;
  };
  const issue = async (amount: number): Promise<string> =>
    (await call('POST', '/v1/nfse', { amount_in_cents: amount, description: `Serviço ${amount}` })).id;
  const outcomeUnknown = (id: string, type: string) =>
    eventually(
      () => running.service.engines.log.readAll({ prefixes: ['nfseLive'], after: null, limit: 1_000 }),
      (events) => events.some((event) => event.type === type && event.stream.endsWith(id.slice(5))),
    );

  describe('at the first scrape', () => {
    it('NfseNumberConflict: the series is named, and sends again with a later number', async () => {
      const now = clock.now();
      const block = { nextNumber: 8, number: 7, invoiceId: '11111111-1111-4111-8111-111111111111', at: now };
      const stream = dpsStream('test', DEMO_CNPJ, '1');
      await appendTo(running.service.engines.store, stream, [{ type: 'DpsSeriesBlocked', data: block }], now);
      const alert = 'NfseNumberConflict';
      const unused = await companyFile('other.json', { cnpj: CNPJ });
      expect((await run('company', 'put', unused)).exit).toBe(0);
      expect((await run('company', 'enable', CNPJ)).exit).toBe(0);
      await alertIs(alert, true);
      expect(await doctor()).toContain(`numbers ${DEMO_CNPJ} test`);
      expect(await type(alert, 'invoice', 'waiting')).toContain('series 1 is stopped');
      const moved = await companyFile('moved.json', {
        cnpj: DEMO_CNPJ,
        dps: { test: { series: '1', next_number: 100 } },
      });
      await type(alert, 'company', 'put', moved);
      expect(await doctor()).toContain('no series is stopped');
    });

    it('NfseCertificateUnusable: the company is named, and the alert ends once it has a certificate', async () => {
      const alert = 'NfseCertificateUnusable';
      await alertIs(alert, true);
      expect(sectionOf(alert)).toContain('nfse doctor');
      expect(await doctor()).toContain(`certificate ${CNPJ}`);
      expect((await run('certificate', 'issue-demo', CNPJ)).exit).toBe(0);
      await alertIs(alert, false);
    });
  });

  it('NfseIndeterminate: found in the list, settled by what the authorizer holds, and the alert ends', async () => {
    const alert = 'NfseIndeterminate';
    await fault('issue', 'lost_after_commit', { match: { amount_in_cents: 7_101 } });
    await fault('lookup', 'http_404_html');
    const id = await issue(7_101);
    await outcomeUnknown(id, 'IssuanceOutcomeUnknown');
    clock.pass(HOUR + 60);
    await read(id, ({ status }) => status === 'indeterminate');
    await running.control('DELETE', '/_control/faults');
    await alertIs(alert, true);
    expect(await type(alert, 'invoice', 'indeterminate')).toContain(id);
    expect(await type(alert, 'invoice', 'waiting')).toContain(id);
    expect(await type(alert, 'invoice', 'timeline', id)).toContain('IssuanceOutcomeUnknown');
    await type(alert, 'invoice', 'resolve', id, '--as', 'issued', '--evidence', 'portal');
    expect(await call('GET', `/v1/nfse/${id}`)).toMatchObject({ status: 'issued' });
    await alertIs(alert, false);
  });

  it('NfseCancellationUnconfirmed: listed, canceled by the event that the authorizer holds, and the alert ends', async () => {
    const alert = 'NfseCancellationUnconfirmed';
    const id = await issue(7_102);
    await read(id, ({ status }) => status === 'issued');
    await fault('event', 'lost_after_commit');
    await fault('event_lookup', 'http_404_html');
    await call('POST', `/v1/nfse/${id}/cancel`, {});
    await outcomeUnknown(id, 'CancellationOutcomeUnknown');
    clock.pass(HOUR + 60);
    await read(id, ({ cancellation }) => cancellation?.status === 'failed');
    await running.control('DELETE', '/_control/faults');
    await alertIs(alert, true);
    expect(await doctor()).toMatch(/^BAD {2}cancellations/m);
    expect(await type(alert, 'invoice', 'waiting')).toContain(id);
    await type(alert, 'invoice', 'timeline', id);
    await type(alert, 'invoice', 'resolve', id, '--as', 'canceled', '--evidence', 'portal');
    expect(await call('GET', `/v1/nfse/${id}`)).toMatchObject({ status: 'canceled' });
    await alertIs(alert, false);
  });

  it('NfseCancellationRefused: the codes are listed, and it is closed because the note stays', async () => {
    const alert = 'NfseCancellationRefused';
    const id = await issue(7_103);
    await read(id, ({ status }) => status === 'issued');
    await fault('event', 'reject', { code: 'E0822', times: 1 });
    await call('POST', `/v1/nfse/${id}/cancel`, {});
    await read(id, ({ cancellation }) => cancellation?.status === 'failed');
    await alertIs(alert, true);
    expect(await type(alert, 'invoice', 'waiting')).toMatch(new RegExp(`${id} .*cancellation refused.*E0822`));
    await type(alert, 'invoice', 'timeline', id);
    await type(alert, 'invoice', 'resolve', id, '--as', 'valid', '--evidence', 'portal');
    expect(await call('GET', `/v1/nfse/${id}`)).toMatchObject({
      status: 'issued',
      cancellation: { status: 'failed' },
    });
    await alertIs(alert, false);
  });

  it('NfseInvoicesFailed: every live invoice is refused, the code is found, and the alert ends with an issued invoice', async () => {
    const alert = 'NfseInvoicesFailed';
    const rule = readRules().filter((one) => one.alert === alert);
    const before = await scrape(running.service.opsUrl);
    const isFiring = async (): Promise<boolean> => {
      const after = await scrape(running.service.opsUrl);
      return firing(rule, playedFrom([before, before, after, after]), 3).length > 0;
    };
    await fault('issue', 'reject', { code: 'E0312' });
    const ids = await Promise.all([7_301, 7_302, 7_303, 7_304, 7_305].map(issue));
    for (const id of ids) await read(id, ({ status }) => status === 'failed');
    const refused = await eventually(
      () => scrape(running.service.opsUrl),
      ({ value }) => value('nfse_ready') === 1,
    );
    expect(await isFiring()).toBe(true);
    expect(refused.value('nfse_invoice_refusals_total', { mode: 'live', code: 'E0312' })).toBe(5);
    // The rows may lag behind what GET has read.
    const list = () => type(alert, 'invoice', 'list', '--status', 'failed', '--mode', 'live');
    await eventually(list, (output) => output.includes(ids[0] ?? 'no id'));
    expect(await type(alert, 'invoice', 'timeline', ids[0] ?? '')).toContain('E0312');
    await running.control('DELETE', '/_control/faults');
    const good = await Promise.all([7_311, 7_312, 7_313, 7_314, 7_315].map(issue));
    for (const id of good) await read(id, ({ status }) => status === 'issued');
    expect(await isFiring()).toBe(false);
  });

  it('NfseAuthorizerPaused: the environment is out, sends resume by themselves, and the alert ends', async () => {
    const alert = 'NfseAuthorizerPaused';
    for (const on of ['issue', 'lookup']) await fault(on, 'http_503');
    const ids = await Promise.all([7_201, 7_202, 7_203, 7_204, 7_205, 7_206].map(issue));
    await alertIs(alert, true);
    expect(sectionOf(alert)).toContain('There is nothing to restart');
    await running.control('DELETE', '/_control/faults');
    await alertIs(alert, false);
    for (const id of ids) await read(id, ({ status }) => status === 'issued');
  });

  it('NfseAuthorizerPaused: the alert ends also when look-ups have settled every invoice and nothing is left to send', async () => {
    const alert = 'NfseAuthorizerPaused';
    await fault('issue', 'lost_after_commit');
    await fault('lookup', 'http_503');
    const ids = await Promise.all([7_801, 7_802, 7_803, 7_804, 7_805].map(issue));
    await alertIs(alert, true);
    await running.control('DELETE', '/_control/faults');
    for (const id of ids) await read(id, ({ status }) => status === 'issued');
    await alertIs(alert, false);
  });

  it('NfseProjectionHalted: the rows are built again while the service runs', async () => {
    expect(isOn('NfseProjectionHalted', await scrape(running.service.opsUrl))).toBe(false);
    await type('NfseProjectionHalted', 'projections', 'rebuild', 'invoices');
    expect(await type('NfseProjectionLag', 'projections', 'status')).toContain('invoices');
  });
});
