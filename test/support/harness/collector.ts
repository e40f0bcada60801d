import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.js';

/** A span as it was exported, with the attributes of its process in `resource`. */
export type ExportedSpan = {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  name: string;
  kind: number;
  failed: boolean;
  attributes: Readonly<Record<string, unknown>>;
  resource: Readonly<Record<string, unknown>>;
};

/** A receiver of OTLP over HTTP. It decodes JSON and keeps everything that it was sent. */
export type Collector = {
  endpoint: string;
  spans: readonly ExportedSpan[];
  /** Path, content type and body of each export. */
  exports: readonly { path: string; contentType: string; body: Buffer }[];
  /** Spans of a trace, once it has one of each name: each process exports its own, in no order. */
  traceWith(traceId: string, ...names: readonly string[]): Promise<readonly ExportedSpan[]>;
  /** From now on each export is answered so; `silence` is no answer at all. */
  answer(status: number | 'silence'): void;
  close(): Promise<void>;
};

type Value = {
  stringValue?: string;
  intValue?: number | string;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
};
type Pairs = readonly { key: string; value: Value }[];
type OtlpSpan = Omit<ExportedSpan, 'attributes' | 'parentSpanId' | 'resource' | 'failed'> & {
  parentSpanId?: string;
  attributes: Pairs;
  status: { code?: number };
};
type Otlp = { resourceSpans: { resource: { attributes: Pairs }; scopeSpans: { spans: OtlpSpan[] }[] }[] };

const FAILED = 2;

export const startCollector = async (): Promise<Collector> => {
  const spans: ExportedSpan[] = [];
  const exports: { path: string; contentType: string; body: Buffer }[] = [];
  let answer: number | 'silence' = 200;
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const contentType = request.headers['content-type'] ?? '';
    exports.push({ path: request.url ?? '', contentType, body });
    if (contentType === 'application/json') spans.push(...spansOf(JSON.parse(body.toString('utf8')) as Otlp));
    if (answer === 'silence') return;
    response.writeHead(answer, { 'content-type': contentType }).end(contentType === 'application/json' ? '{}' : '');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    exports,
    traceWith: (traceId, ...names) =>
      eventually(
        async () => spans.filter((span) => span.traceId === traceId),
        (found) => names.every((name) => found.some((span) => span.name === name)),
      ),
    answer: (next) => {
      answer = next;
    },
    close: () => closed(server),
  };
};

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const spansOf = ({ resourceSpans }: Otlp): readonly ExportedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ parentSpanId = '', attributes, status, traceId, spanId, name, kind }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        kind,
        failed: status.code === FAILED,
        attributes: fieldsOf(attributes),
        resource: fieldsOf(resource.attributes),
      })),
    ),
  );

const fieldsOf = (pairs: Pairs): Readonly<Record<string, unknown>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));

const plain = ({ stringValue, intValue, boolValue, arrayValue }: Value): unknown =>
  arrayValue?.values.map(plain) ?? stringValue ?? boolValue ?? (intValue === undefined ? undefined : Number(intValue));

/** Each span of a trace behind its parents, as `POST > append`; sorted. */
export const pathsOf = (spans: readonly ExportedSpan[]): readonly string[] => {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: ExportedSpan): string => {
    const parent = byId.get(span.parentSpanId);
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
  };
  return spans.map(pathOf).toSorted();
};
