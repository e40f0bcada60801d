import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type OpsServer, startOpsServer } from '../../../src/runtime/operations/ops-server.js';
import type { Readiness, ServiceState } from '../../../src/runtime/operations/readiness.js';

const MOST = 8;

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
  let server: OpsServer;
  beforeAll(async () => {
    server = await startOpsServer(
      { host: '127.0.0.1', port: 0, maxConnections: MOST },
      {
        readiness: async () => ({ ...readyBody, ready: state.ready }),
        phase: () => state.phase,
        scrape: async () => {
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

  it('answers a probe while as many connections as the limit say nothing', async () => {
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (let n = 0; n < MOST; n += 1) {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    const probe = connect(server.port, '127.0.0.1');
    sockets.push(probe);
    probe.write('GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    const [answer] = await once(probe, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

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

  it('answers 500 and says so in the log when a source fails', async () => {
    state.broken = true;
    expect(await ask('/metrics')).toMatchObject({ status: 500, text: '{"error":"failed"}' });
    expect(faults).toMatchObject([{ message: 'broken' }]);
  });
});
