import { connect, type Socket } from 'node:net';
import { hostileBodies } from '../http/body/hostile.js';
import { serveParent } from './child.js';

/** `what` is a name of `attacks`; several connections repeat it until the time is over. */
export type Attack = { origin: string; key: string; what: string; connections: number; milliseconds: number };

/** Answers by status; `cut` are connections that ended without one. */
export type AttackResult = { answers: Record<string, number> };

type Make = (host: string, key: string) => string | Uint8Array;

const headOf = (line: string, host: string, key: string, more = ''): string =>
  `${line} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n${more}`;

const posted =
  (make: () => string | Uint8Array): Make =>
  (host, key) => {
    const body = Buffer.from(make());
    const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    return Buffer.concat([Buffer.from(headOf('POST /v1/nfse', host, key, more)), body]);
  };

const GET = 'GET /v1/nfse/x';
const ROOM = 16_000;

/** Everything that one connection can make costly: bodies of 10 MiB, and requests within the limits of their headers. */
const attacks: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(Object.entries(hostileBodies).map(([name, { make }]) => [name, posted(make)])),
  'a body under an unknown key': (host, key) =>
    posted(() => 'x'.repeat(10 * 1024 * 1024))(host, `${key.slice(0, -1)}?`),
  '1,900 headers': (host, key) => `${headOf(GET, host, key, 'a:\r\n'.repeat(1_900))}\r\n`,
  'one header of 15 KB': (host, key) => `${headOf(GET, host, key, `X: ${'x'.repeat(ROOM - 1_000)}\r\n`)}\r\n`,
  'a path of 15 KB': (host, key) => `${headOf(`${GET}${'/%41'.repeat(ROOM / 4 - 200)}`, host, key)}\r\n`,
  'a query of 15 KB': (host, key) => `${headOf(`GET /v1/nfse?${'t=%41&'.repeat(ROOM / 6 - 200)}`, host, key)}\r\n`,
  'an Idempotency-Key of 15 KB': (host, key) =>
    `${headOf('POST /v1/nfse', host, key, `Idempotency-Key: ${'!'.repeat(ROOM - 1_000)}\r\nContent-Length: 0\r\n`)}\r\n`,
  'a credential of 15 KB': (host) => `${headOf(GET, host, 'x'.repeat(ROOM - 1_000))}\r\n`,
  'a page of the docs': (host) => `GET /docs/assets/redoc.standalone.js HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  'a body in chunks of one byte': (host, key) =>
    `${headOf('POST /v1/nfse', host, key, 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n')}\r\n${'1\r\na\r\n'.repeat(1_000_000)}`,
  '1,000 requests in one packet': (host) => `GET /x HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(1_000),
};

const run = async ({ origin, key, what, connections, milliseconds }: Attack): Promise<AttackResult> => {
  const { hostname, port, host } = new URL(origin);
  const bytes = attacks[what]?.(host, key);
  if (bytes === undefined) throw new Error(`no such attack: ${what}`);
  const answers: Record<string, number> = {};
  const count = (status: string): void => {
    answers[status] = (answers[status] ?? 0) + 1;
  };
  const until = performance.now() + milliseconds;
  const attacker = async (): Promise<void> => {
    while (performance.now() < until) count(await once(connect(Number(port), hostname), bytes));
  };
  await Promise.all(Array.from({ length: connections }, attacker));
  return { answers };
};

const PATIENCE_MS = 20_000;

/** The status of the first answer. Each request uses a new connection, because an attacker has many. */
const once = (socket: Socket, bytes: string | Uint8Array): Promise<string> =>
  new Promise((resolve) => {
    const end = (status: string): void => {
      socket.destroy();
      resolve(status);
    };
    socket.setTimeout(PATIENCE_MS, () => end('silent'));
    socket.on('error', () => end('cut'));
    socket.on('close', () => end('cut'));
    socket.once('data', (answer) => end(answer.toString('latin1', 9, 12)));
    socket.write(bytes);
  });

await serveParent<null, Attack>(async () => ({
  ready: Object.keys(attacks),
  answer: run,
  close: async () => undefined,
}));
