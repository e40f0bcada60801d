import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type Client, createClient, mayIssueAgain } from '../../src/client/client.js';
import { ApiError, isRefusal, NoAnswerError, StillWaitingError } from '../../src/client/errors.js';
import { bundle } from '../../src/launch/build.mjs';
import { issueBodyOf } from '../support/fixture/demo.js';
import {
  attempted,
  authorized,
  BASE_URL,
  canceled,
  createHarness,
  type Harness,
  issuedInvoice,
  PDF,
} from '../support/harness/http.js';
import { ENDS_WITHIN_MS } from '../support/patient.js';
import { temporaryFolder } from '../support/temporary-folder.js';

type Given = { client: Client; harness: Harness; slept: number[]; sent: RequestInit[] };

/** A client of the whole API in memory; `atSleep` happens while the client sleeps, whose time passes at once. */
const given = (atSleep: (harness: Harness) => Promise<void> = async () => {}): Given => {
  const harness = createHarness();
  const slept: number[] = [];
  const sent: RequestInit[] = [];
  let now = 0;
  const client = createClient({
    baseUrl: BASE_URL,
    key: harness.keys.test,
    fetch: async (url, init) => {
      sent.push(init);
      return await harness.app.request(url, init);
    },
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
      await atSleep(harness);
    },
  });
  return { client, harness, slept, sent };
};

const request = { amount_in_cents: 125_050, description: 'Consultoria', reference: 'pedido-1' };

/** Authorizes the invoice of `request`. */
const authorize = async (harness: Harness): Promise<void> => {
  const found = await harness.call('/v1/nfse?reference=pedido-1');
  const { data } = (await found.json()) as { data: { id: string; status: string }[] };
  const [invoice] = data;
  if (invoice?.status === 'queued')
    await harness.record(invoice.id, [attempted(harness.state.now), authorized(harness.state.now)]);
};

describe('the client', () => {
  it('issues, waits at the pace of the 202, reads, finds and downloads', async () => {
    const { client, slept } = given(authorize);
    const invoice = await client.issueAndWait(request);
    expect(invoice).toMatchObject({ status: 'issued', reference: 'pedido-1', amount_in_cents: 125_050 });
    expect(slept).toEqual([3_000]);
    expect(await client.get(invoice.id)).toMatchObject({ id: invoice.id });
    expect(await client.findByReference('pedido-1')).toMatchObject({ id: invoice.id });
    expect(await client.findByReference('other')).toBeUndefined();
    expect(Buffer.from(await client.download(invoice.id, 'pdf')).equals(PDF)).toBe(true);
    expect((await client.activities())[0]).toMatchObject({ object: 'activity' });
  });

  it('cancels and waits', async () => {
    let id = '';
    const { client, harness } = given(async ({ record }) => await record(id, [canceled()]));
    id = await issuedInvoice(harness);
    expect(await client.cancelAndWait(id, { reason: 'other' })).toMatchObject({
      status: 'canceled',
      cancellation: { status: 'succeeded' },
    });
  });

  it('says that the time to wait is over, with the invoice, and reads no more', async () => {
    const { client, slept } = given();
    const error = await client.issueAndWait(request, { withinMs: 10_000 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StillWaitingError);
    expect((error as StillWaitingError).invoice).toMatchObject({ status: 'queued' });
    expect(slept).toEqual([3_000, 3_000, 3_000]);
  });

  it('tells refusals by their code and does not repeat them', async () => {
    const { client, sent } = given();
    await client.issue(request);
    const error = await client.issue(request).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(isRefusal(error, 'nfse.reference_in_use')).toBe(true);
    expect(isRefusal(error, 'not_found')).toBe(false);
    expect(error).toMatchObject({ status: 409, retryable: false, requestId: expect.stringMatching(/^req_/) });
    expect(sent).toHaveLength(2);
  });

  it('gives the same invoice for the same Idempotency-Key, and makes one for each call otherwise', async () => {
    const { client, sent } = given();
    const first = await client.issue(issueBodyOf({ reference: undefined }) as never, { idempotencyKey: 'k-1' });
    const again = await client.issue(issueBodyOf({ reference: undefined }) as never, { idempotencyKey: 'k-1' });
    expect(again.id).toBe(first.id);
    await client.issue({ ...request, reference: 'a' });
    await client.issue({ ...request, amount_in_cents: 300, reference: 'b' });
    const keys = sent.map(({ headers }) => new Headers(headers).get('idempotency-key'));
    expect(keys[0]).toBe('k-1');
    expect(new Set(keys).size).toBe(3);
    expect(keys.every((key) => key !== null && key !== '')).toBe(true);
  });

  it.each(['', 'a b', 'á', 'x'.repeat(256)])(
    'sends nothing with the key %j, which would protect nothing',
    async (key) => {
      const { client, sent } = given();
      await expect(client.issue(request, { idempotencyKey: key })).rejects.toBeInstanceOf(RangeError);
      expect(sent).toEqual([]);
    },
  );

  it('lets another invoice be issued after failed alone', () => {
    const statuses = ['queued', 'processing', 'issued', 'failed', 'indeterminate', 'canceled', 'new'] as const;
    expect(statuses.filter((status) => mayIssueAgain({ status }))).toEqual(['failed']);
  });

  it('follows no redirect, which could carry the key to somebody else', async () => {
    const { client, sent } = given();
    await client.activities();
    expect(sent[0]).toMatchObject({ redirect: 'error', signal: expect.any(AbortSignal) });
  });

  const withAnswers = (...answers: (() => Response)[]): Client => {
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      return answers[Math.min(asked, answers.length) - 1]?.() ?? Response.error();
    };
    return createClient({ baseUrl: BASE_URL, key: 'k', fetch, sleep: async () => {} });
  };
  const answerOf = (contentType: string | undefined) => () => {
    const response = new Response('<x/>');
    response.headers.delete('content-type');
    if (contentType !== undefined) response.headers.set('content-type', contentType);
    return response;
  };

  it.each([
    ['xml', 'text/html; charset=utf-8'],
    ['pdf', 'text/html'],
    ['pdf', 'application/xml'],
    ['xml', 'application/xmlx'],
    ['xml', undefined],
  ] as const)('never gives for the %s the bytes of a 200 of type %s, which is of a proxy', async (format, type) => {
    const error = await withAnswers(answerOf(type))
      .download('nfse_1', format)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ status: 200, message: `GET /v1/nfse/nfse_1/${format}: 200 that is not of the API` });
  });

  it('asks again for a document that a proxy answered, and takes its type with parameters', async () => {
    const client = withAnswers(answerOf('text/html'), answerOf('Application/XML; charset=utf-8'));
    expect(Buffer.from(await client.download('nfse_1', 'xml')).toString()).toBe('<x/>');
  });

  it('never gives a part of a document whose connection broke', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/xml\r\ncontent-length: 100\r\n\r\n';
    let answers = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        answers += 1;
        socket.end(`${head}<?xml`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, key: 'k', tries: 1 });
    const error = await client.download('nfse_1', 'xml').catch((thrown: unknown) => thrown);
    server.close();
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(answers).toBe(1);
  });

  it('gives up a try after its time', async () => {
    const fetch = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const client = createClient({ baseUrl: BASE_URL, key: 'k', fetch, tries: 2, timeoutMs: 1, sleep: async () => {} });
    await expect(client.get('x')).rejects.toBeInstanceOf(NoAnswerError);
  });

  it('sends on every repeat what the call was given, whatever the program does with its object afterwards', async () => {
    const bodies: unknown[] = [];
    const fetch = async (_url: string, { body }: RequestInit) => {
      bodies.push(body);
      if (bodies.length === 1) throw new TypeError('fetch failed');
      return Response.json({ object: 'nfse', id: 'nfse_1', status: 'queued' });
    };
    const client = createClient({ baseUrl: BASE_URL, key: 'k', fetch, sleep: async () => {} });
    const request = { amount_in_cents: 1_000, description: 'Mensalidade' };
    const issued = client.issue(request, { idempotencyKey: 'sale-1' });
    request.amount_in_cents = 2_000;
    await issued;
    const text = '{"amount_in_cents":1000,"description":"Mensalidade"}';
    expect(bodies).toEqual([text, text]);
  });

  it('refuses null as an Idempotency-Key before any request', async () => {
    const fetch = vi.fn(async () => Response.error());
    const client = createClient({ baseUrl: BASE_URL, key: 'k', fetch });
    const issued = client.issue({ amount_in_cents: 1_000, description: 'x' }, { idempotencyKey: null as never });
    await expect(issued).rejects.toThrow(RangeError);
    expect(fetch).not.toHaveBeenCalled();
  });

  it('takes an address with a slash at its end, and refuses what is no address before any request', async () => {
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return new Response('{}', { status: 404 });
    };
    await createClient({ baseUrl: ' http://x/nfse//\n', key: 'k', fetch })
      .get('y')
      .catch(() => undefined);
    expect(asked).toEqual(['http://x/nfse/v1/nfse/y']);
    for (const baseUrl of [
      '',
      'x',
      'ftp://x',
      'http://',
      'localhost:3000',
      'http://u:p@x',
      'http://x?a=b',
      'http://x#a',
    ])
      expect(() => createClient({ baseUrl, key: 'k', fetch }), baseUrl).toThrow(TypeError);
  });

  it.each(['', 'svc_sk_test_…', 'svc_sk_test_x y', 'svc_sk_test_x\ny', undefined as never])(
    'refuses %j, which is no whole key, before any request and without telling it',
    (key) => {
      const fetch = async () => Response.error();
      const create = () => createClient({ baseUrl: BASE_URL, key, fetch });
      expect(create).toThrow(TypeError);
      expect(create).toThrow(/^key must be a whole API key: [^_]*$/);
    },
  );

  it('takes a key with the white space of a file around it', async () => {
    const keys: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      keys.push(new Headers(init?.headers).get('authorization'));
      return Response.json({ object: 'list', data: [] });
    };
    await createClient({ baseUrl: BASE_URL, key: ' svc_sk_test_x\r\n', fetch }).activities();
    expect(keys).toEqual(['Bearer svc_sk_test_x']);
  });

  it('is built as files that load nothing else, not even Node', async () => {
    const folder = temporaryFolder();
    await bundle(folder, []);
    const script = `
      const { createClient } = await import(${JSON.stringify(join(folder, 'src/client/client.js'))});
      const { ApiError } = await import(${JSON.stringify(join(folder, 'src/client/errors.js'))});
      const body = { error: { code: 'not_found', message: 'm', retryable: false } };
      const fetch = async () => new Response(JSON.stringify(body), { status: 404 });
      const error = await createClient({ baseUrl: 'http://x', key: 'k', fetch }).get('x').catch((e) => e);
      console.log(error instanceof ApiError, error.code);`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: ENDS_WITHIN_MS,
    });
    expect(printed).toBe('true not_found\n');
    const files = readdirSync(join(folder, 'src/client')).map((name) => join(folder, 'src/client', name));
    expect(files.length).toBeGreaterThan(2);
    expect(files.filter((file) => /node:|\brequire\b/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
