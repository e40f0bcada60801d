import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LIMITS, listen, type RunningServer } from '../../../src/http/server.js';
import { freePort } from '../../support/free-port.js';
import { createHarness } from '../../support/harness/http.js';
import { itWith } from '../../support/needs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { ROOT } from '../../tools/root.js';

const page = readFileSync(join(ROOT, 'docs/operations/proxy.md'), 'utf8');
const block = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? '';
const nginx = block('nginx');
const haproxy = block('haproxy');
const secondsOf = (text: string, setting: string): number =>
  Number(new RegExp(`${setting} (\\d+)s`).exec(text)?.[1] ?? Number.NaN);

describe('the configurations of the page', () => {
  it('have times that fit those of the server', () => {
    expect(page).toContain(`the API ends one after ${LIMITS.keepAliveTimeout / 1000} s`);
    expect(secondsOf(haproxy, 'timeout http-request')).toBe(LIMITS.requestTimeout / 1000);
    expect(secondsOf(haproxy, 'timeout client')).toBeGreaterThanOrEqual(LIMITS.requestTimeout / 1000);
    expect(secondsOf(nginx, 'proxy_read_timeout')).toBe(secondsOf(haproxy, 'timeout server'));
  });

  it('repeat no request that was sent, and take every body that the API takes', () => {
    expect(nginx).toMatch(/proxy_next_upstream error timeout;/);
    expect(haproxy).not.toContain('retry-on');
    expect(nginx).toContain('client_max_body_size 11m;');
  });
});

const servers: RunningServer[] = [];
const children: ChildProcess[] = [];
const closers: (() => void)[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  for (const close of closers.splice(0)) close();
  for (const server of servers.splice(0)) await server.close(0);
});

const startApi = async (): Promise<RunningServer> => {
  const server = await listen(createHarness().app, { host: '127.0.0.1', port: 0 });
  servers.push(server);
  return server;
};

const portOf = ({ url }: RunningServer): string => new URL(url).port;

/** Ports of this test in place of those of the page, and without TLS, which needs a certificate. */
const withPorts = (text: string, apis: readonly RunningServer[], ports: { proxy: number; health?: number }): string => {
  const [first, second] = apis.map(portOf);
  return text
    .replace('127.0.0.1:3000', `127.0.0.1:${first}`)
    .replace('127.0.0.1:3010', `127.0.0.1:${second}`)
    .replaceAll(/port 31\d1/g, `port ${ports.health}`)
    .replaceAll(/^ *ssl_certificate.*$/gm, '')
    .replace('listen 443 ssl;', `listen 127.0.0.1:${ports.proxy};`)
    .replace(/bind :443 .*$/m, `bind 127.0.0.1:${ports.proxy}`);
};

const run = (program: string, args: readonly string[]): void => {
  children.push(spawn(program, args, { stdio: 'ignore' }));
};

const startNginx = async (apis: readonly RunningServer[]): Promise<string> => {
  const [folder, proxy] = [temporaryFolder(), await freePort()];
  const file = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (of) => `${of}_temp_path ${folder}/${of};`,
  );
  const log = `error_log ${folder}/error.log; access_log off;`;
  const http = `http { ${log} ${temporary.join(' ')}\n${withPorts(nginx, apis, { proxy })}}`;
  // The master process ends its workers only at a signal that it can handle, so there is none.
  writeFileSync(file, `daemon off; master_process off; pid ${folder}/pid; events {} ${http}\n`);
  run('nginx', ['-c', file, '-e', join(folder, 'start.log')]);
  return `http://127.0.0.1:${proxy}`;
};

const startHaproxy = async (apis: readonly RunningServer[]): Promise<string> => {
  const [folder, proxy] = [temporaryFolder(), await freePort()];
  const health = createServer((_request, response) => void response.end());
  await new Promise<void>((resolve) => health.listen(0, '127.0.0.1', resolve));
  closers.push(() => void health.close());
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, withPorts(haproxy, apis, { proxy, health: (health.address() as AddressInfo).port }));
  run('haproxy', ['-db', '-f', file]);
  return `http://127.0.0.1:${proxy}`;
};

/** The status and code of an answer that the API gave; what a proxy answers in its place has no code. */
const ask = async (origin: string, length = 2): Promise<string> => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${origin}/v1/nfse`, { method: 'POST', headers, body: '{}'.padEnd(length) });
  const text = await answer.text();
  return `${answer.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? text}`;
};

const untilUp = (origin: string): Promise<void> =>
  expect.poll(() => ask(origin).catch(() => ''), { interval: 100 }).toBe('401 unauthorized');

const CLIENTS = 8;
const REQUESTS_AFTER = 300;

describe.each([
  ['nginx', startNginx],
  ['haproxy', startHaproxy],
] as const)('a proxy with the configuration of the page: %s', (program, startProxy) => {
  itWith(program, 'loses no request when one of two processes stops', async () => {
    const [leaving, staying] = [await startApi(), await startApi()];
    const origin = await startProxy([leaving, staying]);
    await untilUp(origin);
    const seen = new Map<string, number>();
    let [asked, last] = [0, Number.POSITIVE_INFINITY];
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (asked < last) {
        asked += 1;
        const answer = await ask(origin);
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }
    });
    await expect.poll(() => asked).toBeGreaterThan(REQUESTS_AFTER);
    await leaving.close(120_000, 1_000);
    last = asked + REQUESTS_AFTER;
    await Promise.all(clients);
    expect([...seen.keys()]).toEqual(['401 unauthorized']);
  });

  itWith(program, 'passes on what the API answers to a body of 10 MiB, before that is sent whole', async () => {
    const origin = await startProxy([await startApi(), await startApi()]);
    await untilUp(origin);
    expect(await ask(origin, 10 * 1024 * 1024)).toBe('401 unauthorized');
  });
});
