import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryQueue } from '../../../src/adapters/queue-memory/memory-queue.js';
import { readItem, writeItem } from '../../../src/adapters/queue-nats/message.js';
import { namesFor } from '../../../src/adapters/queue-nats/names.js';
import { openTelemetryTracing } from '../../../src/adapters/tracing-opentelemetry/tracing.js';
import { workerContext } from '../../../src/app/event-store/command-context.js';
import { createEventStore, type EventStore, NO_STREAM } from '../../../src/app/event-store/event-store.js';
import { companyStream, invoiceStream } from '../../../src/domain/common/ids.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import type { Tracing } from '../../../src/ports/tracing.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { exportLog, openTraces, type Traces, tracesOf } from '../../../src/runtime/tracing/traces.js';
import { COMPANY, keyCreated } from '../../support/fixture/histories.js';
import { accepted, T0 } from '../../support/fixture/invoice.js';
import { type Collector, pathsOf, startCollector } from '../../support/harness/collector.js';
import { contextAt, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const TRACES = ['a', 'b'].map((letter) => `00-${letter.repeat(32)}-${letter.repeat(16)}-01`) as [string, string];
const stream = invoiceStream('live', COMPANY, '11111111-1111-4111-8111-111111111111');

describe('the traces of a process', () => {
  let collector: Collector;
  let tracing: Tracing & { close(): Promise<void> };
  let traces: Omit<Traces, 'close'>;
  let log: EventLog;
  let store: EventStore;
  beforeEach(async () => {
    collector = await startCollector();
    const to = { endpoint: collector.endpoint, protocol: 'http/json' } as const;
    tracing = openTelemetryTracing({ ...to, resource: {}, onExport: () => undefined });
    traces = tracesOf(tracing);
    log = memoryEventLog();
    store = traces.store(createEventStore(log, fixedKeys()));
  });
  afterEach(() => collector.close());

  const exported = async () => {
    await tracing.close();
    return collector.spans;
  };
  const storedTraces = async (name = stream) => (await log.read(name)).map(({ metadata }) => metadata.traceparent);
  const accept = () => store.append(stream, NO_STREAM, [accepted()], contextAt(T0));

  it('write the span of an append into its events, and a worker keeps that of the event which led to it', async () => {
    await tracing.inSpan('request', { kind: 'server' }, accept);
    const [event] = await log.read(stream);
    const context = workerContext(stream, 'conclude_issue', { actor: 'timer:sweeper' })(T0, event);
    expect(context.traceparent).toBe(event?.metadata.traceparent);
    const [append, request] = await exported();
    expect(event?.metadata.traceparent).toBe(`00-${request?.traceId}-${append?.spanId}-01`);
    expect(append).toMatchObject({
      name: 'append InvoiceAccepted',
      parentSpanId: request?.spanId,
      attributes: { 'nfse.events': ['InvoiceAccepted'], 'nfse.site': 'accept_invoice' },
    });
  });

  it('leave an append alone that no traced work makes, and keep the trace that it was given', async () => {
    await accept();
    const own = contextAt(T0, { traceparent: TRACES[0] });
    await store.append(companyStream(COMPANY), NO_STREAM, [keyCreated('key_1')], own);
    expect([...(await storedTraces()), ...(await storedTraces(companyStream(COMPANY)))]).toEqual([
      undefined,
      TRACES[0],
    ]);
    expect(await exported()).toEqual([]);
  });

  it('give each event of a shared append to its own trace, whoever makes the append', async () => {
    const of = (traceparent: string, commandId: string) => contextAt(T0, { commandId, traceparent });
    const [first, second] = [of(TRACES[0], 'one'), of(TRACES[1], 'two')];
    const events = [keyCreated('key_1'), keyCreated('key_2'), keyCreated('key_3')];
    const name = companyStream(COMPANY);
    await tracing.inSpan('work', { kind: 'consumer', parent: TRACES[0] }, () =>
      store.append(name, NO_STREAM, events, { ...first, ofEvents: [first, second, first] }),
    );
    const appends = (await exported()).filter(({ name }) => name === 'append ApiKeyCreated');
    const own = new Map(appends.map(({ traceId, spanId }) => [traceId[0], `00-${traceId}-${spanId}-01`]));
    expect(await storedTraces(name)).toEqual([own.get('a'), own.get('b'), own.get('a')]);
    expect(appends).toHaveLength(2);
    expect(appends.find(({ traceId }) => traceId.startsWith('b'))?.parentSpanId).toBe('b'.repeat(16));
  });

  it.each([
    ['carries one', TRACES[1]],
    ['carries none, as after a restart: that of the last event', undefined],
  ])('continue at the worker the trace of a work item that %s', async (_what, carried) => {
    await store.append(stream, NO_STREAM, [accepted()], contextAt(T0, { traceparent: TRACES[0] }));
    const queue = traces.queue(createMemoryQueue(movableClock(T0)), log);
    await queue.put({
      kind: 'issue',
      stream,
      messageId: 'm',
      ...(carried === undefined ? {} : { traceparent: carried }),
    });
    const ended = new AbortController();
    await queue.work({
      concurrency: 1,
      signal: ended.signal,
      handle: async () => {
        ended.abort();
        return { kind: 'park', reason: 'of CLIENTE' };
      },
    });
    const spans = await exported();
    const work = spans.find(({ name }) => name === 'work issue');
    expect(work).toMatchObject({
      traceId: (carried ?? TRACES[0]).split('-')[1],
      attributes: { 'nfse.company': COMPANY, 'nfse.result': 'park', 'nfse.delivery': 1 },
    });
    expect(pathsOf(spans)).toEqual(carried === undefined ? ['work issue'] : ['put issue', 'put issue > work issue']);
  });

  it('travel with a work item through NATS, whose older readers see what they know', () => {
    const item = { kind: 'issue', stream, messageId: 'm' } as const;
    const { work } = namesFor('nfse');
    const read = (payload: string) => readItem(payload, work(item), work);
    expect(read(writeItem({ ...item, traceparent: TRACES[0] }))).toEqual({ ...item, traceparent: TRACES[0] });
    expect(read(writeItem(item))).toEqual(item);
    expect(writeItem(item)).toBe(JSON.stringify(item));
  });

  it('hold a verdict of time, in the trace of its stream', async () => {
    const verdict = () => traces.verdict(stream, log, async () => tracing.current()?.traceparent.split('-')[1]);
    expect(await verdict()).toBeUndefined();
    await store.append(stream, NO_STREAM, [accepted()], contextAt(T0, { traceparent: TRACES[0] }));
    expect(await verdict()).toBe('a'.repeat(32));
    expect(await exported()).toMatchObject([{ name: 'verdict of time', parentSpanId: 'a'.repeat(16) }]);
  });

  it('say of an answer of the authorizer its kind and catalogued codes, and none of its texts', async () => {
    const refusing = {
      sendDps: async () => ({ kind: 'rejected', codes: ['E0188', 'CLIENTE'], texts: ['CLIENTE'] }),
    } as unknown as Authorizer;
    const send = () => traces.authorizer(refusing).sendDps({ mode: 'live', companyId: COMPANY }, Buffer.of(), T0);
    await send();
    await tracing.inSpan('work', { kind: 'consumer' }, send);
    const calls = (await exported()).filter(({ name }) => name === 'authorizer send_dps');
    expect(calls).toHaveLength(1);
    expect(calls[0]?.attributes).toEqual({
      'nfse.mode': 'live',
      'nfse.company': COMPANY,
      'nfse.outcome': 'rejected',
      'nfse.codes': ['E0188'],
    });
  });
});

describe('without an address, or switched off,', () => {
  it.each([{}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }])(
    'the parts of the process are as they were: %j',
    async (env) => {
      const parsed = readConfig(env);
      if ('problems' in parsed) throw new Error(parsed.problems.join());
      const traces = await openTraces(parsed.config, ['api'], { info: fail, warn: fail } as never);
      const part = {} as never;
      expect([traces.store(part), traces.authorizer(part), traces.queue(part, part), traces.requests(part)]).toEqual([
        part,
        part,
        part,
        part,
      ]);
      for (const same of [traces.store, traces.authorizer, traces.requests]) expect(same(part)).toBe(part);
      expect(traces.answered(part)).toEqual({});
      expect(await traces.verdict(stream, part, async () => 7)).toBe(7);
    },
  );
});

const fail = (): never => {
  throw new Error('nothing is to be logged');
};

describe('the log of exports', () => {
  it('says the first failure, every ten minutes of failures, and that exports go out again', () => {
    const lines: object[] = [];
    let nowMs = 5_000;
    const keep = (line: object): void => void lines.push(line);
    const report = exportLog({ info: keep, warn: keep } as never, () => nowMs);
    const refused = Object.assign(new Error('http://user:password@host'), { code: 'ECONNREFUSED' });
    report(undefined);
    for (const passed of [0, 60_000, 540_000, 1_000]) {
      nowMs += passed;
      report(refused);
    }
    report(undefined);
    report(undefined);
    const failed = { msg: 'traces could not be exported; requests are not concerned', code: 'ECONNREFUSED' };
    expect(lines).toMatchObject([failed, failed, { msg: 'traces are exported again' }]);
    expect(lines).toHaveLength(3);
    expect(JSON.stringify(lines)).not.toContain('password');
    report(Object.assign(new Error('a text of the collector'), { code: 401, data: 'a body' }), { status: 401 });
    expect(lines[3]).toMatchObject({ error: 'Error', status: 401 });
    expect(JSON.stringify(lines)).not.toMatch(/text of|a body/);
  });
});
