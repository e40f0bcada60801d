import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type LocalServer, openLocalServer } from './local-server.js';

/** A request that came over the line, and what became of it. Times are those of `performance`. */
type Passed = {
  method: string;
  path: string;
  /** Idempotency-Key. */
  key: string | undefined;
  body: string;
  cameAt: number;
  /** `cut`: the service has answered, and the answer was lost. */
  answer: { kind: 'passed' | 'cut' } | { kind: 'refused'; at: number };
};

export type FaultyLine = LocalServer & {
  passed: readonly Passed[];
  /** Shows the invoice with this reference in another status from now on, which would take an hour to come about. */
  disguise(reference: string, status: string): void;
};

/** Seconds that a refusal of the line asks to wait. */
export const REFUSED_FOR_S = 1;

/**
 * An HTTP line to the service on which each kind of request has an accident: the answer to the first POST with a key, and to the first cancel of an
 * invoice, is lost after the service gave it; the second POST with a key is refused with 503, and the first read of an invoice with 429.
 */
export const openFaultyLine = async (target: string): Promise<FaultyLine> => {
  const passed: Passed[] = [];
  const disguises = new Map<string, string>();

  const accidentOf = (method: string, path: string, key: string | undefined): 'cut' | 'refused' | undefined => {
    const before = passed.filter((one) => one.method === method && one.path === path && one.key === key).length;
    if (method === 'GET') return before === 0 && INVOICE.test(path) ? 'refused' : undefined;
    if (before === 0) return 'cut';
    return before === 1 && key !== undefined ? 'refused' : undefined;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = request;
    const key = headers['idempotency-key']?.toString();
    const body = (await buffer(request)).toString();
    const accident = accidentOf(method, path, key);
    const one: Passed = { method, path, key, body, cameAt: performance.now(), answer: { kind: 'passed' } };
    passed.push(one);
    if (accident === 'refused') {
      const retry = { 'content-type': 'application/json', 'retry-after': String(REFUSED_FOR_S) };
      // Before the answer leaves: no program can count from an earlier instant.
      one.answer = { kind: 'refused', at: performance.now() };
      response.writeHead(method === 'GET' ? 429 : 503, retry).end(JSON.stringify(REFUSAL));
      return;
    }
    const own = {
      authorization: headers.authorization ?? '',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    };
    const sent = method === 'GET' ? {} : { body, headers: { ...own, 'content-type': 'application/json' } };
    const answer = await fetch(`${target}${path}`, { method, headers: own, ...sent });
    const bytes = shown(Buffer.from(await answer.arrayBuffer()), answer.headers.get('content-type') ?? '');
    if (accident === 'cut') {
      one.answer = { kind: 'cut' };
      response.destroy();
      return;
    }
    const retryAfter = answer.headers.get('retry-after');
    const kept = retryAfter === null ? {} : { 'retry-after': retryAfter };
    const type = { 'content-type': answer.headers.get('content-type') ?? '', 'content-length': bytes.length };
    response.writeHead(answer.status, { ...type, ...kept }).end(bytes);
  };

  const shown = (bytes: Buffer, contentType: string): Buffer => {
    if (contentType !== 'application/json') return bytes;
    const body: { reference?: string } = JSON.parse(bytes.toString());
    const status = disguises.get(body.reference ?? '');
    return status === undefined ? bytes : Buffer.from(JSON.stringify({ ...body, status }));
  };

  const { url, close } = await openLocalServer(handle);
  return { url, close, passed, disguise: (reference, status) => void disguises.set(reference, status) };
};

const INVOICE = /^\/v1\/nfse\/[^/]+$/;

const REFUSAL = {
  error: {
    type: 'api_error',
    code: 'service_unavailable',
    message: 'O serviço está indisponível no momento.',
    retryable: true,
    livemode: false,
    request_id: 'req_00000000-0000-4000-8000-000000000000',
  },
};
