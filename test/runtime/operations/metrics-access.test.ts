import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type OpsServer, startOpsServer } from '../../../src/runtime/operations/ops-server.js';

const TOKEN = 'correct-horse-battery-staple';

let server: OpsServer | undefined;
afterEach(() => server?.close());

const open = async (token: string | undefined) => {
  const opened = await startOpsServer(
    { host: '127.0.0.1', port: 0 },
    {
      readiness: async () => ({ ready: true }) as never,
      phase: () => 'serving',
      scrape: async () => ({ contentType: 'text/plain', text: 'nfse_ready 1\n' }),
      metrics: { hosts: ['metrics.example'], token },
      onFault: () => undefined,
    },
  );
  server = opened;
  return (host: string, authorization?: string, path = '/metrics'): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { host, ...(authorization === undefined ? {} : { authorization }) };
      const sent = request({ host: '127.0.0.1', port: opened.port, path, headers }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
      });
      sent.on('error', reject).end();
    });
};

describe('the metrics', () => {
  it.each(['localhost:3001', '127.0.0.1', '[::1]:3001', 'metrics.example:9090'])('are read as %s', async (host) => {
    expect(await (await open(undefined))(host)).toBe(200);
  });

  it.each(['evil.example', 'localhost.evil.example', '10.1.2.3', 'metrics.example@evil.example'])(
    'are refused under the name %j, which a page of another site would send; health is not',
    async (host) => {
      const ask = await open(undefined);
      expect(await ask(host)).toBe(421);
      expect(await ask(host, undefined, '/health/live')).toBe(200);
    },
  );

  it('want the token where there is one, under whatever name', async () => {
    const ask = await open(TOKEN);
    for (const authorization of [undefined, 'Bearer', 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`])
      expect([authorization, await ask('localhost', authorization)]).toEqual([authorization, 401]);
    expect(await ask('localhost', `Bearer ${TOKEN}`)).toBe(200);
    expect(await ask('10.1.2.3:3001', `bearer ${TOKEN}`)).toBe(200);
    expect(await ask('localhost', undefined, '/health/ready')).toBe(200);
  });
});

it('two Hosts are refused on every page, whatever they are', async () => {
  await open(undefined);
  for (const path of ['/metrics', '/health/live', '/console']) {
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connect(server?.port ?? 0, '127.0.0.1', () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n`),
      );
      socket.on('error', reject).once('data', (answer) => {
        socket.destroy();
        resolve(answer.toString('latin1', 9, 12));
      });
    });
    expect([path, status]).toEqual([path, '400']);
  }
});
