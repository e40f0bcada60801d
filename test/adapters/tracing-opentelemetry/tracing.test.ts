import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ExportCause,
  openTelemetryTracing,
  type TracingOptions,
} from '../../../src/adapters/tracing-opentelemetry/tracing.js';
import { type Collector, pathsOf, startCollector } from '../../support/harness/collector.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const internal = { kind: 'internal' } as const;

describe('tracing by OpenTelemetry', () => {
  let collector: Collector;
  let exported: (Error | undefined)[];
  let causes: (ExportCause | undefined)[];
  beforeEach(async () => {
    collector = await startCollector();
    exported = [];
    causes = [];
  });
  afterEach(() => collector.close());

  const open = (changes: Partial<TracingOptions> = {}) =>
    openTelemetryTracing({
      endpoint: collector.endpoint,
      protocol: 'http/json',
      resource: { 'service.name': 'nfse', 'nfse.roles': 'api' },
      onExport: (error, cause) => {
        exported.push(error);
        causes.push(cause);
      },
      ...changes,
    });

  it('exports spans below the spans that they run in, each with what is known of the process', async () => {
    const tracing = open();
    const result = await tracing.inSpan('outer', { kind: 'server', attributes: { status: 202 } }, async (outer) => {
      expect(tracing.current()).toBe(outer);
      outer.rename('renamed');
      outer.add({ codes: ['E1', 'E2'], late: true });
      await Promise.all([
        tracing.inSpan('first', internal, async () => undefined),
        tracing.inSpan('second', internal, async () => undefined),
      ]);
      return 7;
    });
    expect([result, tracing.current()]).toEqual([7, undefined]);
    await tracing.close();
    expect(exported).toEqual([undefined]);
    expect(pathsOf(collector.spans)).toEqual(['renamed', 'renamed > first', 'renamed > second']);
    const outer = collector.spans.find(({ name }) => name === 'renamed');
    expect(outer).toMatchObject({
      kind: 2,
      failed: false,
      attributes: { status: 202, codes: ['E1', 'E2'], late: true },
      resource: { 'service.name': 'nfse', 'nfse.roles': 'api', 'telemetry.sdk.name': 'opentelemetry' },
    });
    expect(collector.exports[0]).toMatchObject({ path: '/v1/traces', contentType: 'application/json' });
  });

  it('continues the trace of a parent, and gives its own context on', async () => {
    const tracing = open();
    const given = await tracing.inSpan('a', { ...internal, parent: `00-${TRACE}-${PARENT}-01` }, async (span) => span);
    await tracing.inSpan('b', { ...internal, parent: given.traceparent }, async () => undefined);
    await tracing.close();
    expect(collector.spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE]);
    expect(collector.spans[0]?.parentSpanId).toBe(PARENT);
    expect(given.traceparent).toBe(`00-${TRACE}-${collector.spans[0]?.spanId}-01`);
    expect(collector.spans[1]?.parentSpanId).toBe(collector.spans[0]?.spanId);
  });

  it.each([
    '',
    'x',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
  ])('begins a trace where the parent is no trace context: %j', async (parent) => {
    const tracing = open();
    await tracing.inSpan('a', { ...internal, parent }, async () => undefined);
    await tracing.close();
    expect(collector.spans).toMatchObject([{ parentSpanId: '' }]);
    expect(collector.spans[0]?.traceId).not.toBe(TRACE);
  });

  it('takes a given parent of another trace in place of the span around it, and that span within one trace', async () => {
    const tracing = open();
    const other = `00-${TRACE}-${PARENT}-01`;
    await tracing.inSpan('around', internal, async () => {
      await tracing.inSpan('other', { ...internal, parent: other }, async () => {
        await tracing.inSpan('inside', { ...internal, parent: other }, async () => undefined);
      });
    });
    await tracing.close();
    expect(pathsOf(collector.spans)).toEqual(['around', 'other', 'other > inside']);
  });

  it('exports nothing of a trace that its beginner has not sampled, and says so to those who continue it', async () => {
    const tracing = open();
    const span = await tracing.inSpan('a', { ...internal, parent: `00-${TRACE}-${PARENT}-00` }, async (own) => own);
    await tracing.close();
    expect(span.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    expect(collector.exports).toEqual([]);
  });

  it('marks a span whose work throws by the name of the error, never its text, and passes the error on', async () => {
    const tracing = open();
    const fault = new TypeError('of CLIENTE');
    const failing = tracing.inSpan('a', internal, async () => {
      throw fault;
    });
    await expect(failing).rejects.toBe(fault);
    await tracing.close();
    expect(collector.spans).toMatchObject([{ failed: true, attributes: { 'error.type': 'TypeError' } }]);
    expect(String(collector.exports[0]?.body)).not.toContain('CLIENTE');
  });

  it('writes Protobuf where that is asked for', async () => {
    const tracing = open({ protocol: 'http/protobuf' });
    await tracing.inSpan('a', internal, async () => undefined);
    await tracing.close();
    expect(collector.exports).toMatchObject([{ path: '/v1/traces', contentType: 'application/x-protobuf' }]);
    expect(collector.exports[0]?.body.includes('service.name')).toBe(true);
  });

  it.each(['refuses', 'is silent', 'is gone'])('ends by itself where the collector %s', async (how) => {
    if (how === 'refuses') collector.answer(400);
    if (how === 'is silent') collector.answer('silence');
    if (how === 'is gone') await collector.close();
    const tracing = open();
    expect(await tracing.inSpan('a', internal, async () => 'done')).toBe('done');
    await tracing.close();
    expect(exported).toEqual([expect.any(Error)]);
  });

  it.each([
    [400, { status: 400 }],
    [401, { status: 401 }],
    [429, { status: 429 }],
    [500, { status: 500 }],
    [503, { status: 503 }],
    ['silence', { code: 'ETIMEDOUT' }],
  ] as const)('says of the answer %s why nothing was exported', async (answer, cause) => {
    collector.answer(answer);
    const tracing = open();
    await tracing.inSpan('a', internal, async () => undefined);
    await tracing.close();
    expect([exported, causes]).toEqual([[expect.any(Error)], [cause]]);
  });
});
