import { setTimeout as pause } from 'node:timers/promises';

/** What a client sees of an invoice. */
export type SeenInvoice = {
  id: string;
  status: 'queued' | 'processing' | 'issued' | 'failed' | 'indeterminate' | 'canceled';
  amount_in_cents: number;
  access_key?: string;
  cancellation?: { status: 'pending' | 'succeeded' | 'failed' };
};

type Answer = { status: number; body: { error?: { code: string } } & Partial<SeenInvoice> };

/** Most waits last seconds, and each look takes milliseconds of both sides. */
const POLL_MS = 250;
const READS_WITHIN_MS = 60_000;
/** A process that is frozen takes requests and never answers. */
const ANSWER_WITHIN_MS = 30_000;

/** Repeats the look until it returns a value; throws after a bound. */
export const waitFor = async <T>(what: string, withinMs: number, look: () => Promise<T | undefined>): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs / 1000} s in vain for: ${what}`);
    await pause(POLL_MS);
  }
};

/**
 * Single requests, also those that the client of the API never makes: a POST without a key, and one whose broken connection or refusal the test wants
 * to see. Reads are repeated while the service says so.
 */
export const createCarefulClient = (origin: string, key: string) => {
  const call = async (method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Answer> => {
    const response = await fetch(`${origin}${path}`, {
      method,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  };
  /** Reading may be repeated for as long as the service says so. */
  const read = (path: string): Promise<Answer> =>
    waitFor(`GET ${path}`, READS_WITHIN_MS, async () => {
      const answer = await call('GET', path);
      if (answer.status === 503) return undefined;
      if (answer.status !== 200 && answer.status !== 404) throw new Error(`GET ${path} answered ${answer.status}`);
      return answer;
    });
  /** Undefined: not found. */
  const find = async (id: string): Promise<SeenInvoice | undefined> => {
    const { status, body } = await read(`/v1/nfse/${id}`);
    return status === 404 ? undefined : (body as SeenInvoice);
  };
  const get = async (id: string): Promise<SeenInvoice> => {
    const found = await find(id);
    if (found === undefined) throw new Error(`${id} is not found`);
    return found;
  };
  return {
    find,
    get,
    issue: (body: unknown, idempotencyKey?: string) => call('POST', '/v1/nfse', body, idempotencyKey),
    cancel: (id: string) => call('POST', `/v1/nfse/${id}/cancel`, { reason: 'other' }),
    findByReference: async (reference: string): Promise<SeenInvoice | undefined> => {
      const { body } = await read(`/v1/nfse?reference=${encodeURIComponent(reference)}`);
      return (body as { data?: readonly SeenInvoice[] }).data?.[0];
    },
    pollUntil: (id: string, withinMs: number, ended: (invoice: SeenInvoice) => boolean): Promise<SeenInvoice> =>
      waitFor(`the end of ${id}`, withinMs, async () => {
        const invoice = await get(id);
        return ended(invoice) ? invoice : undefined;
      }),
  };
};

export type CarefulClient = ReturnType<typeof createCarefulClient>;
