import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type OpsServer, startOpsServer } from '../../../src/runtime/operations/ops-server.js';
import type { Readiness, ServiceState } from '../../../src/runtime/operations/readiness.js';

const MOST = 8;

/** More than the buffers of a connection take. */
const LONG = Buffer.alloc(32 * 1024 * 1024);

const ok = { ok: true } as const;
const projections = { ...ok, lag_s: 0, lags: {} };
const readyBody: Readiness = {
  ready: true,
  reasons: [],
  lag_s: 0,
  checks: { serving: ok, database: ok, event_log: ok, queue: ok, projections, guards: ok, certificate_vault: ok },
};

describe('the operations port', () => {
  const state: { ready: boolean; phase: ServiceState['phase']; broken: boolean } = {
    ready: true,
    phase: 'serving',
    broken: false,
  };
  const faults: unknown[] = [];
  let scrapes = 0;
  /** What the console does with a whole form, by its path; and how many requests it has got. */
  const acts: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    '/console/at-once': (response) => response.end('done'),
    '/console/long': (response) => response.end(LONG),
  };
  let forms = 0;
  let server: OpsServer;
  beforeAll(async () => {
    server = await startOpsServer(
      { host: '127.0.0.1', port: 0, maxConnections: MOST },
      {
        readiness: async () => ({ ...readyBody, ready: state.ready }),
        phase: () => state.phase,
        console: (request, response) => {
          forms += 1;
          request.resume().on('end', () => acts[request.url ?? '']?.(response));
        },
        scrape: async () => {
          scrapes += 1;
          if (state.broken) throw new Error('broken');
          return { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'nfse_ready 1\n' };
        },
        metrics: { hosts: ['metrics.example'], token: undefined },
        onFault: (error) => faults.push(error),
      },
    );
  });
  beforeEach(() => {
    Object.assign(state, { ready: true, phase: 'serving', broken: false });
  });
  afterAll(() => server.close());

  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('is live as long as it answers', async () => {
    expect(await ask('/health/live')).toMatchObject({ status: 200, text: '{"live":true}' });
  });

  it.each([
    [true, 200],
    [false, 503],
  ])('ready %s is %i, with the reasons as JSON', async (ready, status) => {
    state.ready = ready;
    const answer = await ask('/health/ready?from=probe');
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(JSON.parse(answer.text)).toEqual({ ...readyBody, ready });
  });

  it('keeps the connection of a health check open until the next one', async () => {
    expect((await ask('/health/live')).headers.get('keep-alive')).toBe('timeout=65');
  });

  /** A connection on which this was sent. */
  const sent = async (bytes: string): Promise<Socket> => {
    const socket = connect(server.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(bytes);
    return socket;
  };
  const form = (path: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n${body}`;
  /** As many connections as the limit, the first the oldest, whose requests have reached the console. */
  const taken = async (bytes: string): Promise<readonly Socket[]> => {
    await expect.poll(probe).toBe('HTTP/1.1 200');
    const sockets: Socket[] = [];
    for (let n = 0; n < MOST; n += 1) {
      const before = forms;
      const socket = await sent(bytes);
      sockets.push(socket);
      if (bytes !== '') await expect.poll(() => forms).toBe(before + 1);
    }
    return sockets;
  };
  const probe = async (): Promise<string> => {
    const socket = await sent('GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    const answer = await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return String(answer[0]).slice(0, 12);
  };

  it('answers a probe while as many connections as the limit say nothing', async () => {
    await taken('');
    expect(await probe()).toBe('HTTP/1.1 200');
  });

  it('answers a probe while forms come byte by byte on all connections, of which the oldest gives way', async () => {
    const [oldest, next] = await taken(form('/console/at-once', 'a'));
    expect(await probe()).toBe('HTTP/1.1 200');
    await expect.poll(() => oldest?.closed).toBe(true);
    next?.write('bcd');
    expect(String(await once(next ?? new Socket(), 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('answers a probe while no client takes its answer', async () => {
    for (const socket of await taken(form('/console/long', 'a'))) socket.pause().write('bcd');
    await expect.poll(probe).toBe('HTTP/1.1 200');
  });

  it('closes no connection whose form was received whole', async () => {
    const [oldest] = await taken(form('/console/slow', 'abcd'));
    const late = await sent('');
    await once(late, 'close');
    expect(oldest?.closed).toBe(false);
  });

  it('ends a form that does not come whole within seconds', async () => {
    // The server may still hold all connections of another test.
    await expect.poll(probe).toBe('HTTP/1.1 200');
    const since = performance.now();
    const socket = await sent(form('/console/at-once', 'a'));
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  it.each([
    ['no Host', 'GET /health/live HTTP/1.1\r\n\r\n', 400],
    ['no HTTP', 'x\r\n\r\n', 400],
    ['too much header', `GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['half a head', 'GET /health/live HTTP/1.1\r\n', 408],
  ])(
    'refuses %s with a body and the headers of other refusals, and ends the connection',
    async (_what, bytes, status) => {
      await expect.poll(probe).toBe('HTTP/1.1 200');
      const socket = await sent(bytes);
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      await once(socket, 'close');
      const [head = '', body = ''] = text.split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      for (const name of ['date', 'content-type: application/json', 'cache-control: no-store', 'connection: close'])
        expect(head.toLowerCase()).toContain(name);
      expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/./) });
    },
  );

  it('has started once it served, whether it is ready or not', async () => {
    state.ready = false;
    expect(await ask('/health/startup')).toMatchObject({ status: 200, text: '{"started":true}' });
    state.phase = 'draining';
    expect(await ask('/health/startup')).toMatchObject({ status: 200, text: '{"started":true}' });
    state.phase = 'starting';
    expect(await ask('/health/startup')).toMatchObject({ status: 503, text: '{"started":false}' });
  });

  it('serves from its start until it drains, whether it is ready or not', async () => {
    state.ready = false;
    expect(await ask('/health/serving')).toMatchObject({ status: 200, text: '{"serving":true}' });
    for (const phase of ['starting', 'draining'] as const) {
      state.phase = phase;
      expect(await ask('/health/serving')).toMatchObject({ status: 503, text: '{"serving":false}' });
    }
  });

  it('answers HEAD as GET without a body', async () => {
    for (const path of ['/health/live', '/health/ready', '/health/serving', '/health/startup', '/metrics']) {
      const [head, get] = [await ask(path, 'HEAD'), await ask(path)];
      expect([path, head.status, head.text]).toEqual([path, get.status, '']);
      expect(head.headers.get('content-length')).toBe(String(get.text.length));
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('refuses %s with 405 and the methods that it knows', async (method) => {
    const { status, headers } = await ask('/metrics', method);
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it.each(['/', '/health', '/health/ready/', '/metrics/x', '/__proto__', '/constructor'])(
    'knows no %s',
    async (path) => {
      expect((await ask(path)).status).toBe(404);
    },
  );

  it('shows metrics in the text format of Prometheus', async () => {
    const { status, headers, text } = await ask('/metrics');
    expect([status, text]).toEqual([200, 'nfse_ready 1\n']);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('collects the metrics once for many who ask at once, and again for each who asks later', async () => {
    const before = scrapes;
    const answers = await Promise.all(Array.from({ length: MOST }, () => ask('/metrics')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const after = scrapes;
    // Some requests may arrive after the first collection began.
    expect(after - before).toBeLessThan(MOST);
    await ask('/metrics');
    await ask('/metrics');
    expect(scrapes).toBe(after + 2);
  });

  it('answers 500 and says so in the log when a source fails', async () => {
    state.broken = true;
    expect(await ask('/metrics')).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(faults[0]).toMatchObject({ message: 'broken' });
  });
});
