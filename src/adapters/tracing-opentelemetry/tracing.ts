import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Context, ROOT_CONTEXT, type Span as SdkSpan, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { present } from '../../domain/common/present.js';
import { settlesWithin } from '../../lib/pause.js';
import type { Span, SpanAttributes, SpanOptions, Tracing } from '../../ports/tracing.js';

export type TracingOptions = {
  /** Base address of an OTLP receiver; spans are posted to `v1/traces` below it. */
  endpoint: string;
  protocol: 'http/protobuf' | 'http/json';
  /** Facts about this process that every span carries. */
  resource: Readonly<Record<string, string>>;
  /** Called after each export, with its error and what is known of the cause if it failed. */
  onExport(error: Error | undefined, cause?: ExportCause): void;
};

/** `status`: the collector's last answer. `code`: `ETIMEDOUT` when it gave none in time. */
export type ExportCause = { status?: number; code?: string };

/**
 * For an export with all its repetitions, unless the environment sets another time. A stop waits for the last export, so the SDK's own 10 s would
 * make each stop without a collector take as long.
 */
const EXPORT_MS = 2_000;

/** A stop waits no longer for the last spans. */
const CLOSE_MS = 3_000;

const kinds: Readonly<Record<SpanOptions['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/**
 * Traces by the SDK of OpenTelemetry, exported by OTLP over HTTP. The SDK reads its further settings from the environment of the process: sampler,
 * headers, certificates, batches, resource. Nothing of it is registered for the whole process.
 */
export const openTelemetryTracing = (options: TracingOptions): Tracing & { close(): Promise<void> } => {
  const answers = watchAnswers(`${options.endpoint}/v1/traces`);
  const named = defaultResource().merge(resourceFromAttributes(options.resource));
  const provider = new BasicTracerProvider({
    resource: named.merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reporting(exporterOf(options), answers, options.onExport))],
  });
  const tracer = provider.getTracer('nfse');
  const running = new AsyncLocalStorage<Span>();
  return {
    inSpan: async (name, { kind, parent, attributes = {} }, work) => {
      const context = contextOf(running.getStore()?.traceparent, parent);
      const sdkSpan = tracer.startSpan(name, { kind: kinds[kind], attributes: copied(attributes) }, context);
      const span = asSpan(sdkSpan);
      try {
        return await running.run(span, () => work(span));
      } catch (error) {
        span.fail(error instanceof Error ? error.name : typeof error);
        throw error;
      } finally {
        sdkSpan.end();
      }
    },
    current: () => running.getStore(),
    close: async () => {
      await settlesWithin(
        CLOSE_MS,
        provider.shutdown().catch(() => undefined),
      );
      answers.close();
    },
  };
};

/** Batches make one span of work for several traces run inside the span of the first: then the given parent is the right one. */
const contextOf = (current: string | undefined, given: string | undefined): Context => {
  const parent = given === undefined ? null : parseTraceParent(given);
  const around = current === undefined ? null : parseTraceParent(current);
  const chosen = parent === null || around?.traceId === parent.traceId ? around : parent;
  return chosen === null
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...chosen, isRemote: chosen === parent });
};

const asSpan = (span: SdkSpan): Span => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`,
    rename: (name) => void span.updateName(name),
    add: (attributes) => void span.setAttributes(copied(attributes)),
    fail: (type) => void span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', type),
  };
};

/** The SDK's types take only lists that could be changed. */
const copied = (attributes: SpanAttributes): Record<string, string | number | boolean | string[]> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  );

const exporterOf = ({ endpoint, protocol }: TracingOptions): SpanExporter => {
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const { OTEL_EXPORTER_OTLP_TIMEOUT: all, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: traces } = process.env;
  const timeoutMillis = all === undefined && traces === undefined ? EXPORT_MS : undefined;
  return new Exporter(present({ url: `${endpoint}/v1/traces`, timeoutMillis }));
};

/** The SDK hides the status of an answer after which it tries again (429, 502 to 504). Node tells of the answer to each request. */
const watchAnswers = (address: string) => {
  const { hostname, pathname } = new URL(address);
  let status: number | undefined;
  const onAnswer = (message: unknown): void => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    if (request.path === pathname && request.host === hostname.replace(/^\[|\]$/g, '')) status = response.statusCode;
  };
  subscribe(ANSWERED, onAnswer);
  return { last: () => status, close: () => void unsubscribe(ANSWERED, onAnswer) };
};

const ANSWERED = 'http.client.response.finish';

/** Of the SDK's error only its number and kind: message and data may be the collector's text. */
const causeOf = (error: Error, lastStatus: number | undefined): ExportCause => {
  if (error.name !== 'OTLPExporterError') return error.message === TIMED_OUT ? { code: 'ETIMEDOUT' } : {};
  const status = 'code' in error && typeof error.code === 'number' ? error.code : lastStatus;
  return status === undefined ? {} : { status };
};

/** The SDK's whole message. */
const TIMED_OUT = 'Request timed out';

const reporting = (
  exporter: SpanExporter,
  answers: { last(): number | undefined },
  report: TracingOptions['onExport'],
): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      const { code, error = new Error('the export failed') } = result;
      if (code === 0) report(undefined);
      else report(error, causeOf(error, answers.last()));
      done(result);
    }),
  shutdown: () => exporter.shutdown(),
  forceFlush: async () => exporter.forceFlush?.(),
});
