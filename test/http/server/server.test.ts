import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen, type RunningServer } from '../../../src/http/server.js';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness, issuedInvoice, PDF, requestInit } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { exchange, expectEnvelope, headOf, issueBytes, start } from './connection.js';

const FRAMED = 'Content-Type: application/json\r\nContent-Length: ';

/** In small chunks, without a declared length. */
const chunked = (bytes: number): ReadableStream<Uint8Array> => {
  const body = new TextEncoder().encode(JSON.stringify(issueBodyOf()).padEnd(bytes, ' '));
  let offset = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (offset >= body.length) return controller.close();
      controller.enqueue(body.subarray(offset, offset + 65_536));
      offset += 65_536;
    },
  });
};

const postStream = async (
  harness: Harness,
  { url }: RunningServer,
  body: ReadableStream<Uint8Array>,
): Promise<Response> =>
  await fetch(`${url}/v1/nfse`, { ...requestInit({ raw: '' }, harness.keys), body, duplex: 'half' } as RequestInit);

describe('over a real connection', () => {
  it('issues and downloads, with lengths', async () => {
    const harness = createHarness();
    const { url } = await start(harness);
    const issued = await fetch(
      `${url}/v1/nfse`,
      requestInit({ json: issueBodyOf({ amount_in_cents: 700 }) }, harness.keys),
    );
    expect(issued.status).toBe(202);
    expect(issued.headers.get('content-length')).toMatch(/^\d+$/);
    const id = await issuedInvoice(harness);
    const pdf = await fetch(`${url}/v1/nfse/${id}/pdf`, requestInit({}, harness.keys));
    expect(pdf.headers.get('content-length')).toBe(String(PDF.length));
    expect(Buffer.from(await pdf.arrayBuffer())).toEqual(PDF);
    const head = await fetch(`${url}/v1/nfse/${id}/pdf`, { ...requestInit({}, harness.keys), method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(PDF.length));
  });

  it('401 has no header but those of the envelope and of HTTP', async () => {
    const { url } = await start(createHarness());
    const response = await fetch(`${url}/v1/activities`);
    expect([...response.headers.keys()].sort()).toEqual([
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'request-id',
    ]);
    await expectRefusal(response, 401, 'unauthorized');
  });

  it.each([10_485_760, 10_485_761])('a declared body of %i bytes', async (bytes) => {
    const harness = createHarness();
    const { url } = await start(harness);
    const raw = JSON.stringify(issueBodyOf()).padEnd(bytes, ' ');
    const response = await fetch(`${url}/v1/nfse`, requestInit({ raw }, harness.keys));
    expect(response.status).toBe(bytes > 10_485_760 ? 413 : 202);
  });

  it.each([10_485_760, 10_485_761, 12_000_000])('a chunked body of %i bytes', async (bytes) => {
    const harness = createHarness();
    const response = await postStream(harness, await start(harness), chunked(bytes));
    expect(response.status).toBe(bytes > 10_485_760 ? 413 : 202);
    await response.text();
  });

  it('an empty chunked body', async () => {
    const harness = createHarness();
    const empty = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    await expectRefusal(await postStream(harness, await start(harness), empty), 400, 'malformed_json');
  });

  it('a body that breaks off issues nothing and is no fault', async () => {
    const harness = createHarness();
    const server = await start(harness);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(issueBytes(harness, 500, { declared: 500 }), () => socket.destroy());
    await expect.poll(() => harness.summaries.length).toBe(1);
    expect(harness.summaries[0]).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(harness.faults).toEqual([]);
  });

  it('a body that comes byte by byte', async () => {
    const harness = createHarness();
    const body = JSON.stringify(issueBodyOf());
    const { url } = await start(harness);
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.setNoDelay(true));
      socket.on('error', reject);
      socket.once('data', (answer) => {
        socket.destroy();
        resolve(answer.toString().slice(0, 12));
      });
      const parts = [headOf(harness, 'POST /v1/nfse', `${FRAMED}${body.length}\r\n`), ...body];
      const next = (): unknown => {
        const part = parts.shift();
        return part !== undefined && socket.write(part, () => setImmediate(next));
      };
      next();
    });
    expect(status).toBe('HTTP/1.1 202');
  });

  it('a bad Host header gets the envelope', async () => {
    const answer = await exchange(await start(createHarness()), 'GET /v1/activities HTTP/1.1\r\nHost: a b/\r\n\r\n');
    await expectEnvelope(answer, 400, 'invalid_request');
  });

  it('one that listens on every address tells an address that can be opened', async () => {
    const server = await listen(createHarness().app, { host: '0.0.0.0', port: 0 });
    try {
      expect(server.url).toMatch(/^http:\/\/localhost:\d+$/);
      expect((await fetch(`${server.url}/v1/activities`)).status).toBe(401);
    } finally {
      await server.close(0);
    }
  });

  it('a closed port is told by a rejection', async () => {
    const { url } = await start(createHarness());
    await expect(listen(createHarness().app, { host: '127.0.0.1', port: Number(new URL(url).port) })).rejects.toThrow(
      /EADDRINUSE/,
    );
  });
});

describe('close', () => {
  it('finishes what is in flight, then takes nothing more', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached = (): void => {};
    const inFlight = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const activities = async (): Promise<never[]> => {
      reached();
      await held;
      return [];
    };
    const harness = createHarness({ activities });
    const server = await start(harness);
    const answer = fetch(`${server.url}/v1/activities`, requestInit({}, harness.keys));
    await inFlight;
    const closed = server.close(10_000);
    release();
    expect((await answer).status).toBe(200);
    await closed;
    await expect(fetch(`${server.url}/v1/activities`)).rejects.toThrow();
  });

  it('cuts what does not finish in time', async () => {
    let reached = (): void => {};
    const inFlight = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const activities = (): Promise<never[]> => {
      reached();
      return new Promise(() => {});
    };
    const harness = createHarness({ activities });
    const server = await start(harness);
    const answer = fetch(`${server.url}/v1/activities`, requestInit({}, harness.keys));
    answer.catch(() => {});
    await inFlight;
    await server.close(0);
    await expect(answer).rejects.toThrow();
  });
});
