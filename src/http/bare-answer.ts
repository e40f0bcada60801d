import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { refuse } from './answer.js';
import { type BareRefusal, MAX_WAITING } from './bare-refusal.js';
import { randomRequestId } from './call.js';
import { endWithLinger } from './unread-body.js';

/** Through Node, hence in its turn; the connection ends with it, as a body may follow that nobody reads. */
export const answerBare = async (response: ServerResponse, bare: BareRefusal): Promise<void> => {
  const { headers, body } = await contentOf(bare);
  response.writeHead(bare.status, headers).end(body);
};

export type SocketAnswers = {
  /** To be told of every request, in the order in which they come, but of those beyond `isFull`. */
  note(request: IncomingMessage, response: ServerResponse): void;
  /** Whether this connection may ask for no more: too many of its requests wait for their answers, or it was refused. */
  isFull(socket: Duplex): boolean;
  /**
   * Answers what Node has no response for, after the answers to the requests before it, and ends the connection. Nothing
   * is written where the answer to the broken request itself has begun. Once per socket; `atOnce` when nothing is on its way.
   */
  refuse(socket: Duplex, bare: BareRefusal, atOnce: boolean): Promise<void>;
};

type Latest = { response: ServerResponse; before: ServerResponse | undefined; waiting: number };

export const createSocketAnswers = (): SocketAnswers => {
  const latest = new WeakMap<Duplex, Latest>();
  const refused = new WeakSet<Duplex>();
  return {
    note: ({ socket }, response) => {
      const last = latest.get(socket);
      latest.set(socket, { response, before: last?.response, waiting: (last?.waiting ?? 0) + 1 });
      response.once('close', () => {
        const now = latest.get(socket);
        if (now !== undefined) now.waiting -= 1;
      });
    },
    isFull: (socket) => refused.has(socket) || (latest.get(socket)?.waiting ?? 0) >= MAX_WAITING,
    refuse: async (socket, bare, atOnce) => {
      if (refused.has(socket)) return;
      refused.add(socket);
      socket.on('error', () => socket.destroy());
      const { response, before } = latest.get(socket) ?? {};
      const broken = response?.req.complete === false ? response : undefined;
      await isOut(broken === undefined ? response : before);
      const text = broken?.headersSent ? '' : await textOf(bare);
      if (socket.writable) end(socket, text, atOnce);
      else socket.destroy();
    },
  };
};

/** Answers leave in the order of their requests: with this one all before it are out. */
const isOut = (response: ServerResponse | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (response === undefined || response.writableFinished || response.destroyed) resolve();
    else response.once('close', resolve);
  });

const end = (socket: Duplex, text: string, atOnce: boolean): void => {
  if (atOnce) {
    socket.end(text, () => socket.destroy());
    return;
  }
  endWithLinger(socket, text);
};

const textOf = async (bare: BareRefusal): Promise<string> => {
  const { headers, body } = await contentOf(bare);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${bare.status} ${STATUS_CODES[bare.status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
};

const contentOf = async ({ refusal }: BareRefusal): Promise<{ headers: Record<string, string>; body: string }> => {
  const requestId = randomRequestId();
  const body = await refuse({ requestId }, refusal).text();
  const headers = {
    'Request-Id': requestId,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  return { headers, body };
};
