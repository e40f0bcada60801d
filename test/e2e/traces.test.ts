import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { SeenInvoice } from '../support/harness/careful-client.js';
import { type Collector, type ExportedSpan, pathsOf, startCollector } from '../support/harness/collector.js';
import {
  openServiceProcesses,
  type ServiceProcess,
  type ServiceProcesses,
} from '../support/harness/service-processes.js';
import { orderFault } from '../support/harness/simulator-process.js';
import { describeWithPostgres } from '../support/postgres.js';
import { privateIn } from '../support/run-logs.js';

const PARENT = '00f067aa0ba902b7';
const WITHIN_MS = 120_000;

const SERVER = 2;

/** How the reads of a trace lie in between depends on what a process knows already. */
const writesOf = (spans: readonly ExportedSpan[]): readonly string[] =>
  pathsOf(spans.filter(({ name }) => name !== 'read stream' && name !== 'append CertificateOpened'));

describeWithPostgres('traces of an api and an issuer in two processes', () => {
  let collector: Collector;
  let service: ServiceProcesses;
  let api: ServiceProcess;
  let workers: ServiceProcess;
  let traces = 0;
  beforeAll(async () => {
    [collector, service] = await Promise.all([startCollector(), openServiceProcesses()]);
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_SERVICE_NAME: 'nfse-under-test',
      // The answer to a send may be late on a busy machine: then it would count as unknown.
      AUTHORIZER_TIMEOUT_S: '30',
      LOOKUP_INTERVALS_S: '1,1',
    };
    [api, workers] = await Promise.all([
      service.start('api', env),
      service.start('projector,relay,issuer,sweeper', env),
    ]);
  });
  afterAll(async () => {
    await service?.close();
    await collector?.close();
  });

  const newTrace = (): string => {
    traces += 1;
    return String(traces).padStart(32, 'a');
  };
  const post = async (path: string, body: object, traceparent: string): Promise<Response> =>
    fetch(`${api.origin}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.testKey}`,
        'content-type': 'application/json',
        'idempotency-key': `cliente-${traces}`,
        traceparent,
      },
      body: JSON.stringify(body),
    });
  const accept = async (amount: number, traceparent: string): Promise<SeenInvoice> => {
    const customer = { document: '11222333000181', name: 'CLIENTE FICTICIO' };
    const body = { amount_in_cents: amount, description: 'Serviço de desenvolvimento', customer };
    const answer = await post('/v1/nfse', body, traceparent);
    expect(answer.status).toBe(202);
    expect([...answer.headers.keys()].filter((name) => /trace/.test(name))).toEqual([]);
    return (await answer.json()) as SeenInvoice;
  };
  const issued = (id: string) => api.client.pollUntil(id, WITHIN_MS, ({ status }) => status === 'issued');

  it('are one trace from the POST to the outcome, in the trace of the caller', async () => {
    const traceId = newTrace();
    const { id } = await accept(70_001, `00-${traceId}-${PARENT}-01`);
    await issued(id);
    const spans = await collector.traceWith(traceId, 'POST /v1/nfse', 'work issue');
    const request = 'POST /v1/nfse > append InvoiceAccepted';
    const work = `${request} > put issue > work issue`;
    expect(writesOf(spans)).toEqual([
      'POST /v1/nfse',
      request,
      `${request} > put issue`,
      work,
      `${work} > append Authorized`,
      `${work} > append DpsNumberAllocated`,
      `${work} > append IssuanceAttempted`,
      `${work} > authorizer send_dps`,
    ]);
    const of = (name: string) => spans.find((span) => span.name === name);
    const company = { 'nfse.mode': 'test', 'nfse.company': '12345678000195' };
    expect(of('POST /v1/nfse')).toMatchObject({
      kind: SERVER,
      parentSpanId: PARENT,
      failed: false,
      attributes: { ...company, 'http.route': '/v1/nfse', 'http.response.status_code': 202, 'nfse.invoice_id': id },
      resource: { 'service.name': 'nfse-under-test', 'nfse.roles': 'api' },
    });
    expect(of('work issue')).toMatchObject({
      attributes: { ...company, 'nfse.invoice_id': id, 'nfse.delivery': 1, 'nfse.result': 'ack' },
      resource: { 'nfse.roles': 'projector,relay,issuer,sweeper' },
    });
    expect(of('append IssuanceAttempted')?.attributes).toMatchObject({ ...company, 'nfse.attempt': 1 });
    expect(of('authorizer send_dps')?.attributes).toEqual({ ...company, 'nfse.outcome': 'done' });
    expect(api.output().stdout).toContain(`"trace_id":"${traceId}"`);
  });

  it('hold a look-up after a lost answer, and the trace of a cancellation is that of its own request', async () => {
    const traceId = newTrace();
    await orderFault(workers.controlUrl, { on: 'issue', kind: 'lost_after_commit' }, 70_002);
    const { id } = await accept(70_002, `00-${traceId}-${PARENT}-01`);
    await issued(id);
    const spans = await collector.traceWith(traceId, 'authorizer find_by_dps', 'work issue');
    expect(spans.find(({ name }) => name === 'authorizer send_dps')).toMatchObject({
      failed: true,
      attributes: { 'nfse.outcome': 'unknown', 'error.type': 'unknown' },
    });
    expect(writesOf(spans)).toContainEqual(expect.stringMatching(/work issue > append IssuanceOutcomeUnknown$/));

    const canceling = newTrace();
    const answer = await post(`/v1/nfse/${id}/cancel`, { reason: 'other' }, `00-${canceling}-${PARENT}-01`);
    expect(answer.status).toBe(202);
    const canceled = await collector.traceWith(canceling, 'POST /v1/nfse/:id/cancel', 'work cancel');
    const work = 'append CancellationRequested > put cancel > work cancel';
    expect(writesOf(canceled)).toEqual(
      expect.arrayContaining([
        `POST /v1/nfse/:id/cancel > ${work} > authorizer send_cancellation`,
        `POST /v1/nfse/:id/cancel > ${work} > append CancellationConfirmed`,
      ]),
    );
    expect(canceled.filter(({ name }) => name.includes('Authorized'))).toEqual([]);
  });

  it('begin with the request where the caller sends no trace context that can be read', async () => {
    const { id } = await accept(70_003, 'CLIENTE');
    const begun = await eventually(
      async () =>
        collector.spans.find(({ kind, attributes }) => kind === SERVER && attributes['nfse.invoice_id'] === id),
      (span) => span !== undefined,
    );
    expect(begun).toMatchObject({ name: 'POST /v1/nfse', parentSpanId: '' });
  });

  it('hold nothing private', () => {
    const texts = collector.exports.map(({ body }) => body.toString('utf8'));
    expect(texts.join('').length).toBeGreaterThan(10_000);
    expect(texts.flatMap((text) => privateIn(text) ?? [])).toEqual([]);
  });

  it('do not concern requests while the collector is away, nor the stop', async () => {
    collector.answer('silence');
    const { id } = await accept(70_004, `00-${newTrace()}-${PARENT}-01`);
    await issued(id);
    await collector.close();
    const second = await accept(70_005, `00-${newTrace()}-${PARENT}-01`);
    await issued(second.id);
    await Promise.all([api.stop(), workers.stop()]);
    for (const process of [api, workers]) {
      const lines = process.output().stdout.split('\n');
      expect(lines.filter((line) => line.includes('traces could not be exported'))).toHaveLength(1);
      expect(lines.filter((line) => line.includes('stopping failed'))).toEqual([]);
    }
  });
});
