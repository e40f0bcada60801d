import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invoiceCommands } from '../../src/cli/commands/invoice.js';
import { runCommand } from '../../src/cli/run.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { demoCompany } from '../../src/runtime/commands/demo-company.js';
import { createRunner } from '../../src/runtime/engines/runner.js';
import { sessionOver } from '../../src/runtime/operator/session.js';
import { eventually } from '../support/eventually.js';
import { runningClock } from '../support/harness/running-clock.js';
import { PROMPT, type RunningService, startRunningService } from '../support/harness/running-service.js';
import { describeWithPostgres } from '../support/postgres.js';
import { runLogger } from '../support/run-logs.js';

type Body = Record<string, unknown> & { id: string; status: string };

/** A look-up of a settlement is not repeated, so its time-out is long enough for a busy machine. */
const QUICK = { ...PROMPT, AUTHORIZER_TIMEOUT_S: '30' };
const HOUR = 3_600;
const DAY = 86_400;

const EVIDENCE = 'o portal mostra a nota, visto por Maria';

describeWithPostgres('support settles what the protocol could not', () => {
  const clock = runningClock();
  let running: RunningService;
  beforeAll(async () => {
    running = await startRunningService(QUICK, undefined, clock);
  });
  afterAll(() => running.close());

  const call = async (method: string, path: string, body?: object): Promise<Body> =>
    (await running.call<Body>('live', method, path, body)).body;
  const status = (id: string, wanted: string) =>
    eventually(
      () => call('GET', `/v1/nfse/${id}`),
      (body) => body.status === wanted,
    );

  /** All answers and look-ups are lost, for longer than every limit. */
  const interrupted = async (amount: number, kind: 'lost_after_commit' | 'lost_before_commit'): Promise<string> => {
    const match = { amount_in_cents: amount };
    await running.control('POST', '/_control/faults', { on: 'issue', kind, times: 100, match });
    await running.control('POST', '/_control/faults', { on: 'lookup', kind: 'http_404_html', times: 10_000 });
    const { id } = await call('POST', '/v1/nfse', { amount_in_cents: amount, description: `Serviço ${amount}` });
    await eventually(
      () => running.service.engines.log.readAll({ prefixes: ['nfseLive'], after: null, limit: 1_000 }),
      (events) => events.some(({ type, stream }) => type === 'IssuanceOutcomeUnknown' && stream.endsWith(id.slice(5))),
    );
    clock.pass(HOUR + 60);
    await status(id, 'indeterminate');
    await running.control('DELETE', '/_control/faults');
    return id;
  };

  const resolve = async (id: string, as: string): Promise<{ exit: number; output: string }> => {
    const runner = createRunner(() => undefined);
    const session = sessionOver(running.service.engines, running.config, clock, { logger: runLogger(), runner });
    const output: string[] = [];
    const write = (text: string): void => void output.push(text);
    const argv = ['invoice', 'resolve', id, '--as', as, '--evidence', '-', '--actor', 'maria'];
    const input = Readable.from([`${EVIDENCE}\nanother line\n`]);
    const exit = await runCommand(argv, invoiceCommands, async () => session, { out: write, err: write, input });
    await runner.stop();
    return { exit, output: output.join('\n') };
  };

  it('as issued: the next read has status, access key, instant and links, and the files are served', async () => {
    const id = await interrupted(7_001, 'lost_after_commit');
    expect(await resolve(id, 'failed')).toMatchObject({ exit: 1, output: expect.stringContaining('24 h') });
    expect(await resolve(id, 'issued')).toMatchObject({ exit: 0, output: expect.stringContaining('access key') });
    const body = await call('GET', `/v1/nfse/${id}`);
    expect(body).toMatchObject({
      status: 'issued',
      access_key: expect.stringMatching(/^\d{50}$/),
      issued_at: expect.any(String),
      links: { pdf: expect.any(String), xml: expect.any(String) },
    });
    expect(body).not.toHaveProperty('error');
    expect(body).not.toHaveProperty('failed_at');
    const xml = await fetch(`${running.service.url}/v1/nfse/${id}/xml`, {
      headers: { authorization: `Bearer ${running.keys.live}` },
    });
    expect([xml.status, await xml.text()]).toEqual([200, expect.stringContaining(String(body.access_key))]);
    expect(await resolve(id, 'issued')).toMatchObject({ exit: 0, output: expect.stringContaining('already') });
    const { store } = running.service.engines;
    const { events } = await store.load<InvoiceEvent>(
      invoiceStream('live', demoCompany().cnpj, id.slice('nfse_'.length)),
    );
    const settled = events.find(({ type }) => type === 'IndeterminateResolved');
    expect(settled).toMatchObject({ data: { evidence: expect.stringContaining(EVIDENCE) } });
    expect(JSON.stringify(settled?.data)).not.toContain('another line');
  });

  it('as failed: refused without proof, then two look-ups a second apart after a day', async () => {
    const id = await interrupted(7_002, 'lost_before_commit');
    expect(await resolve(id, 'issued')).toMatchObject({ exit: 1, output: expect.stringContaining('no such document') });
    clock.pass(DAY);
    const settled = await resolve(id, 'failed');
    expect(settled).toMatchObject({ exit: 0, output: expect.stringContaining('asked once more') });
    expect(await call('GET', `/v1/nfse/${id}`)).toMatchObject({ status: 'failed', error: { code: 'issue_failed' } });
  });
});
