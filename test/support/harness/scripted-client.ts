import { expect } from 'vitest';
import { type Client, createClient } from '../../../src/client/client.js';
import { BASE_URL } from './http.js';

export type Answer = (init: RequestInit) => Response | Promise<Response>;

type Sent = { method: string; key: string | null; at: number };

type ScriptedClient = {
  client: Client;
  sent: Sent[];
  slept: number[];
  pass(ms: number): void;
};

/** A client that gets these answers, the last one for good, at a clock that its sleep moves. */
export const clientWith = (...answers: readonly Answer[]): ScriptedClient => {
  const sent: Sent[] = [];
  const slept: number[] = [];
  let now = 0;
  const pass = (ms: number): void => {
    now += ms;
  };
  const client = createClient({
    baseUrl: BASE_URL,
    key: 'k',
    fetch: async (_url, init) => {
      const { method = '' } = init;
      sent.push({ method, key: new Headers(init.headers).get('idempotency-key'), at: now });
      const answer = answers[Math.min(sent.length, answers.length) - 1];
      return (await answer?.(init)) ?? Response.error();
    },
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      pass(ms);
    },
  });
  return { client, sent, slept, pass };
};

export const methodsOf = ({ sent }: Pick<ScriptedClient, 'sent'>): string[] => sent.map(({ method }) => method);

/** The connection breaks; whether the request arrived is not known. */
export const lost: Answer = () => {
  throw new TypeError('fetch failed');
};

/** A proxy that does not reach the service. */
export const proxy: Answer = () => new Response('<html>Bad gateway</html>', { status: 503 });

export const proxyThatWants =
  (retryAfter: string): Answer =>
  () =>
    new Response('<h1>maintenance</h1>', { status: 503, headers: { 'retry-after': retryAfter } });

export const invoiceThatIs =
  (status: string, cancellation?: string): Answer =>
  () =>
    Response.json({ object: 'nfse', id: 'nfse_1', livemode: true, status, cancellation: { status: cancellation } });

const refused = (status: number, code: string, retryAfter?: number): Response => {
  const error = { type: 'x', code, message: 'm', retryable: retryAfter !== undefined, request_id: 'req_1' };
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  return Response.json({ error }, { status, headers });
};

/** A final refusal of the API. */
export const refusal =
  (status: number, code: string): Answer =>
  () =>
    refused(status, code);

export const busyFor =
  (seconds: number): Answer =>
  () =>
    refused(503, 'service_unavailable', seconds);

/** The first request with this key is still in progress. */
export const inUse: Answer = () => refused(409, 'idempotency_key_in_use', 1);

/** Over the rate limit; the first place is free in so many seconds. */
export const overLimitFor =
  (seconds: number): Answer =>
  () =>
    refused(429, 'rate_limit_exceeded', seconds);

/** What the call rejects with. */
export const rejectionOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
