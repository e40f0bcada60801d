import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.js';
import { ApiError, NoAnswerError } from '../../src/client/errors.js';
import { BASE_URL } from '../support/harness/http.js';

/** What happens to a request: `late` ones are lost after the service has done its work. */
type Fault =
  | { kind: 'none' }
  | { kind: 'lost'; late: boolean }
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
    asked.push(next.kind === 'refused' && next.retryAfter !== undefined ? next.retryAfter * 1000 : undefined);
    const answer = next.kind === 'none' || next.late ? work(url, init) : undefined;
    switch (next.kind) {
      case 'none':
        return answer ?? Response.error();
      case 'lost':
        throw new TypeError('fetch failed');
      case 'refused': {
        const error = { type: 'api_error', code: 'c', message: 'm', retryable: next.retryable, request_id: 'r' };
        const headers: Record<string, string> =
          next.retryAfter === undefined ? {} : { 'retry-after': String(next.retryAfter) };
        return Response.json({ error }, { status: next.status, headers });
      }
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
  return { client, posts, invoices, slept, asked, cancels: () => cancels };
};

const known = (error: unknown): unknown => {
  if (error instanceof ApiError || error instanceof NoAnswerError) return error;
  throw error;
};

const request = { amount_in_cents: 100, description: 'x' };

describe('the client, whatever the answers', () => {
  it('never sends two issue requests of one call without the same key, and makes one invoice at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (faults) => {
        const { client, posts, invoices, slept, asked } = serviceWith(faults);
        const result = await client.issue(request).catch(known);
        const keys = new Set(posts.map(({ key }) => key));
        expect(keys.size).toBe(1);
        expect([...keys][0]).toMatch(/^[!-~]+$/);
        expect(invoices.size).toBeLessThanOrEqual(1);
        expect(posts.length).toBeLessThanOrEqual(6);
        expect(slept).toHaveLength(posts.length - 1);
        for (const [index, ms] of slept.entries()) expect(ms).toBe(asked[index] ?? 500 * 2 ** index);
        if (result instanceof NoAnswerError) expect(result.idempotencyKey).toBe([...keys][0]);
        else if (!(result instanceof Error)) expect(result).toMatchObject({ object: 'nfse' });
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

  it('never sends a cancel twice in one call, and then believes the invoice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (faults) => {
        const { client, posts, cancels } = serviceWith(faults);
        const result = await client.cancel('nfse_1').catch(known);
        expect(posts).toHaveLength(1);
        if (!(result instanceof Error)) {
          expect(cancels()).toBe(1);
          expect(result).toMatchObject({ cancellation: { status: 'pending' } });
        }
      }),
      { numRuns: 500 },
    );
  });
});
