import { connect, type Socket } from 'node:net';
import { afterEach, expect } from 'vitest';
import { listen, type RunningServer, type ServerOptions } from '../../../src/http/server.js';
import { issueBodyOf } from '../../support/fixture/demo.js';
import type { Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

const open: RunningServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of open.splice(0)) await server.close(0);
});

/** A server on a free port, closed after the test. */
export const start = async ({ app }: Pick<Harness, 'app'>, options?: ServerOptions): Promise<RunningServer> => {
  const server = await listen(app, { host: '127.0.0.1', port: 0 }, options);
  open.push(server);
  return server;
};

export type Connection = {
  socket: Socket;
  /** Everything that came so far, one character per byte. */
  received(): string;
  /** Waits until this many whole answers are here; those to HEAD are named by their places, as they have no body. */
  answers(count: number, heads?: readonly number[]): Promise<Response[]>;
  isClosed(): boolean;
};

/** `allowHalfOpen` is a client that never closes its side. */
export const openConnection = ({ url }: RunningServer, allowHalfOpen = false): Connection => {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen });
  sockets.push(socket);
  let received = '';
  let closed = false;
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  return {
    socket,
    received: () => received,
    answers: async (count, heads = []) => {
      await expect.poll(() => answersIn(received, heads).length).toBeGreaterThanOrEqual(count);
      return answersIn(received, heads);
    },
    isClosed: () => closed,
  };
};

/** The whole answers at the start of these bytes; 1xx are left out. */
const answersIn = (bytes: string, heads: readonly number[]): Response[] => {
  const found: Response[] = [];
  for (let rest = bytes; ; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return found;
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
    const headers = new Headers(
      lines.map((line): [string, string] => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? '']),
    );
    const hasBody = status >= 200 && !heads.includes(found.length);
    const after = end + 4 + (hasBody ? Number(headers.get('content-length')) : 0);
    if (rest.length < after) return found;
    const body = Buffer.from(rest.slice(end + 4, after), 'latin1');
    if (status >= 200) found.push(new Response(hasBody ? body : null, { status, headers }));
    rest = rest.slice(after);
  }
};

/** Sends these bytes on a new connection and returns the first answer. */
export const exchange = async (server: RunningServer, bytes: string | Uint8Array): Promise<Response> => {
  const connection = openConnection(server);
  connection.socket.write(bytes);
  const [answer] = await connection.answers(1);
  connection.socket.destroy();
  if (answer === undefined) throw new Error('no answer');
  return answer;
};

/** The head of a request with the test key; `rest` are whole header lines. */
export const headOf = ({ keys }: Pick<Harness, 'keys'>, requestLine: string, rest = ''): string =>
  `${requestLine} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.test}\r\n${rest}\r\n`;

/** An issue request as bytes, whole unless `declared` says that more will come. */
export const issueBytes = (
  harness: Pick<Harness, 'keys'>,
  cents: number,
  { headers = '', declared }: { headers?: string; declared?: number } = {},
): string => {
  const body = JSON.stringify(issueBodyOf({ amount_in_cents: cents }));
  const framing = `Content-Type: application/json\r\nContent-Length: ${declared ?? body.length}\r\n`;
  return headOf(harness, 'POST /v1/nfse', `${framing}${headers}`) + body;
};

/** Checks the error envelope, and that it shows no internals of the process. */
export const expectEnvelope = async (response: Response, status: number, code: string): Promise<void> => {
  const error = await expectRefusal(response, status, code);
  expect(JSON.stringify(error)).not.toMatch(/\bat \S+ \(|node:|HPE_|\.[jt]s\b|Error:/);
};
