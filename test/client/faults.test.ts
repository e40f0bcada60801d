import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.js';
import { ApiError, NoAnswerError } from '../../src/client/errors.js';
import { BASE_URL } from '../support/harness/http.js';

/** What happens to a request: `late` ones are lost after the service has done its work. The service refuses with 4xx before any work. */
type Fault =
  | { kind: 'none' }
  | { kind: 'lost'; late: boolean }
  | { kind: 'over the limit'; retryAfter: number }
  | { kind: 'refused'; status: number; retryable: boolean; retryAfter: number | undefined; late: boolean }
  | { kind: 'foreign'; status: number; body: string; late: boolean };

const ODD = [
  '',
  '<html>Bad gateway</html>',
  '{"object":"nfse"',
  '[]',
  'null',
  '{}',
  '{"error":"x"}',
  '{"object":"list"}',
];

const late = fc.boolean();
const fault: fc.Arbitrary<Fault> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Fault>({ kind: 'none' }) },
  fc.record({ kind: fc.constant('lost' as const), late }),
  fc.record({ kind: fc.constant('over the limit' as const), retryAfter: fc.integer({ min: 1, max: 60 }) }),
  fc.record({
    kind: fc.constant('refused' as const),
    status: fc.constantFrom(400, 409, 422, 429, 500, 503),
    retryable: fc.boolean(),
    retryAfter: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    late,
  }),
  fc.record({
    kind: fc.constant('foreign' as const),
    status: fc.constantFrom(200, 202, 204, 403, 404, 500, 502, 503, 504),
    body: fc.constantFrom(...ODD),
    late,
  }),
);

const invoiceOf = (id: string, cancellation?: { status: string }): object => ({
  object: 'nfse',
  id,
  status: 'queued',
  ...(cancellation === undefined ? {} : { cancellation }),
});

/** A service that makes an invoice for each key, and that fails in this order. */
const serviceWith = (faults: readonly Fault[]) => {
  const posts: { path: string; key: string | null }[] = [];
  const invoices = new Map<string, string>();
  const slept: number[] = [];
  /** Of each request, the pause that its answer asked for. */
  const asked: (number | undefined)[] = [];
  let cancels = 0;
  let turnedAway = 0;
  let at = 0;

  const work = (url: string, { method, headers }: RequestInit): Response => {
    const key = new Headers(headers).get('idempotency-key');
    const { pathname } = new URL(url);
    if (method !== 'POST') return Response.json(invoiceOf('nfse_1', cancels > 0 ? { status: 'pending' } : undefined));
    if (pathname.endsWith('/cancel')) {
      cancels += 1;
      return Response.json(invoiceOf('nfse_1', { status: 'pending' }), { status: 202 });
    }
    // Without a key each request is another invoice.
    const known = key ?? `without ${invoices.size}`;
    const id = invoices.get(known) ?? `nfse_${invoices.size + 1}`;
    invoices.set(known, id);
    return Response.json(invoiceOf(id), { status: 202, headers: { 'retry-after': '3' } });
  };

  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    if (init.method === 'POST')
      posts.push({ path: new URL(url).pathname, key: new Headers(init.headers).get('idempotency-key') });
    const next = faults[at] ?? { kind: 'none' };
    at += 1;
    const retryAfter = 'retryAfter' in next ? next.retryAfter : undefined;
    asked.push(retryAfter === undefined ? undefined : retryAfter * 1000);
    const answer = doesWork(next) ? work(url, init) : undefined;
    switch (next.kind) {
      case 'none':
        return answer ?? Response.error();
      case 'lost':
        throw new TypeError('fetch failed');
      case 'over the limit':
        if (init.method === 'POST') turnedAway += 1;
        return refusal(429, 'rate_limit_exceeded', true, next.retryAfter);
      case 'refused':
        return refusal(next.status, 'c', next.retryable, next.retryAfter);
      case 'foreign':
        return new Response(next.status === 204 ? null : next.body, { status: next.status });
    }
  };
  const client = createClient({
    baseUrl: BASE_URL,
    key: 'k',
    fetch,
    sleep: async (ms) => {
      slept.push(ms);
    },
  });
  return { client, posts, invoices, slept, asked, cancels: () => cancels, turnedAway: () => turnedAway };
};

const doesWork = (fault: Fault): boolean => {
  switch (fault.kind) {
    case 'none':
      return true;
    case 'over the limit':
      return false;
    case 'refused':
      return fault.late && fault.status >= 500;
    default:
      return fault.late;
  }
};

const refusal = (status: number, code: string, retryable: boolean, retryAfter: number | undefined): Response => {
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return Response.json({ error: { type: 'x', code, message: 'm', retryable, request_id: 'r' } }, { status, headers });
};

const known = (error: unknown): ApiError | NoAnswerError => {
  if (error instanceof ApiError || error instanceof NoAnswerError) return error;
  throw error;
};

const request = { amount_in_cents: 100, description: 'x' };

describe('the client, whatever the answers', () => {
  it('never sends two issue requests of one call without the same key, and makes one invoice at most, and none when it is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (faults) => {
        const { client, posts, invoices, slept, asked, turnedAway } = serviceWith(faults);
        const result = await client.issue(request).catch(known);
        const keys = new Set(posts.map(({ key }) => key));
        expect(keys.size).toBe(1);
        expect([...keys][0]).toMatch(/^[!-~]+$/);
        expect(invoices.size).toBeLessThanOrEqual(1);
        expect(posts.length).toBeLessThanOrEqual(6 + turnedAway());
        expect(slept).toHaveLength(posts.length - 1);
        for (const [index, ms] of slept.entries()) expect(ms).toBe(asked[index] ?? Math.min(500 * 2 ** index, 30_000));
        if (result instanceof Error) expect(result.idempotencyKey).toBe([...keys][0]);
        else expect(result).toMatchObject({ object: 'nfse' });
        if (result instanceof ApiError) expect(result.mayHaveArrived).toBe(result.status >= 500);
        // Programs issue another invoice after it.
        if (result instanceof ApiError && !result.mayHaveArrived) expect(invoices.size).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  it('uses another key for each call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 20 }), fc.integer({ min: 2, max: 4 }), async (faults, calls) => {
        const { client, posts } = serviceWith(faults);
        for (let call = 0; call < calls; call += 1) await client.issue(request).catch(known);
        expect(new Set(posts.map(({ key }) => key)).size).toBe(calls);
      }),
    );
  });

  it('never sends a cancel again that may have arrived, and then believes the invoice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (faults) => {
        const { client, posts, cancels, turnedAway } = serviceWith(faults);
        const result = await client.cancel('nfse_1').catch(known);
        expect(posts).toHaveLength(1 + turnedAway());
        if (!(result instanceof Error)) {
          expect(cancels()).toBe(1);
          expect(result).toMatchObject({ cancellation: { status: 'pending' } });
        }
      }),
      { numRuns: 500 },
    );
  });
});
