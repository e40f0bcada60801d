import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Refusal } from '../domain/common/error-catalogue.js';
import { present } from '../domain/common/present.js';
import { envelope, helpLink } from './answer.js';
import { randomRequestId } from './call.js';
import type { HttpDeps, RequestSummary } from './deps.js';
import { inHandOf } from './in-hand.js';
import { report, UNMATCHED } from './report.js';
import { endWithLinger } from './unread-body.js';

/** A refusal by the HTTP layer of a request that never reaches the app: the error envelope with a status of the protocol. */
export type RawRefusal = { status: number; refusal: Refusal };

/** What an answer without the app has to know. */
export type RawAnswers = {
  /** As in `Call`. */
  hasPages: boolean;
  /** Called for each answer that the app did not give and does not report. */
  onRefused?: ((summary: RequestSummary) => void) | undefined;
  onFault?: HttpDeps['onFault'] | undefined;
};

/** What Node reports about bytes that it could not parse as a request. */
export type ParseFault = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

/** Node drops further headers without an error, perhaps a credential. The server admits one header more, so as to refuse it. */
export const MAX_HEADERS = 2000;

/** Most unanswered requests of one connection. A packet holds two thousand requests, each of which takes time. */
export const MAX_WAITING = 10;

const invalid = (status: number, message: string): RawRefusal => ({
  status,
  refusal: { code: 'invalid_request', message },
});

export const BAD_REQUEST = invalid(400, 'A requisição HTTP não é válida: confira a primeira linha e os cabeçalhos.');
export const TOO_MANY_WAITING = invalid(
  400,
  `A conexão tem mais de ${MAX_WAITING} requisições sem resposta. Espere as respostas antes de enviar outras.`,
);
export const EXPECTATION_FAILED = invalid(417, 'O cabeçalho Expect só pode ser 100-continue. Retire-o ou corrija-o.');
export const ROUTE_NOT_FOUND: RawRefusal = { status: 404, refusal: { code: 'route_not_found' } };
const TIMED_OUT = invalid(408, 'A requisição não chegou inteira no prazo e não foi executada. Confira a conexão.');
const TOO_MUCH_HEADER = invalid(
  431,
  `O endereço e os cabeçalhos passam de 16 KiB, ou os cabeçalhos de ${MAX_HEADERS}. Retire o que não é da API.`,
);

/** The first refusal that a request deserves by its headers; undefined for an acceptable request. */
export const refusalOfRequest = ({
  rawHeaders,
  httpVersion,
  headers,
  url,
}: IncomingMessage): RawRefusal | undefined => {
  if (rawHeaders.length > 2 * MAX_HEADERS) return TOO_MUCH_HEADER;
  if (!isKnownVersion(httpVersion)) return BAD_REQUEST;
  if (httpVersion !== '1.0' && headers.host === undefined) return BAD_REQUEST;
  if (hasSecondHost(rawHeaders) || !HOST.test(headers.host ?? '')) return BAD_REQUEST;
  return url === '*' ? ROUTE_NOT_FOUND : undefined;
};

/** Node's parser also lets HTTP/0.9 and HTTP/2.0 through. */
export const isKnownVersion = (version: string): boolean => version === '1.1' || version === '1.0';

/** Names, addresses and ports. Other characters, such as a slash, could be read as a part of the path. */
const HOST = /^[\w.:[\]-]*$/;

/** Node takes the first Host header; a proxy before it may have taken the second. */
export const hasSecondHost = (rawHeaders: readonly string[]): boolean => hasSecond('host', rawHeaders);

/** Whether a request has two headers of this name, which is in lower case. Node and `Headers` make one value of them. */
export const hasSecond = (wanted: string, rawHeaders: readonly string[]): boolean => {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === wanted.length && name.toLowerCase() === wanted) count += 1;
  }
  return count > 1;
};

/** A well-formed request with a method that Node does not know is an unknown route (CODE-route_not_found); anything else is invalid HTTP. */
export const refusalOfFault = (fault: ParseFault): RawRefusal => {
  switch (fault.code) {
    case 'HPE_HEADER_OVERFLOW':
      return TOO_MUCH_HEADER;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return TIMED_OUT;
    case STOPPED:
      return TOO_MANY_WAITING;
    case 'HPE_INVALID_METHOD':
      return REQUEST_LINE.test(lineOfFault(fault)) ? ROUTE_NOT_FOUND : BAD_REQUEST;
    default:
      return BAD_REQUEST;
  }
};

/** The server ended the parsing itself (`boundRequests`). */
const STOPPED = 'HPE_CB_HEADERS_COMPLETE';

export const isStopped = ({ code }: ParseFault): boolean => code === STOPPED;

export const isTimeout = ({ code }: ParseFault): boolean => code === 'ERR_HTTP_REQUEST_TIMEOUT';

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]$/;

/** The faulty line from its start, as earlier requests may be in the same packet. */
const lineOfFault = ({ rawPacket, bytesParsed = 0 }: ParseFault): string => {
  const text = rawPacket?.toString('latin1') ?? '';
  const start = text.lastIndexOf('\n', bytesParsed - 1) + 1;
  return text.slice(start).split('\r\n', 1)[0] ?? '';
};

/** Answers through Node, in order, and ends the connection: an unread body may follow. */
export const answerRaw = (response: ServerResponse, raw: RawRefusal, answers: RawAnswers): void => {
  const startedAt = performance.now();
  const { socket, method } = response.req;
  // An earlier answer has ended the connection, so this one cannot leave.
  if (!socket.writable) return;
  const peer = addressOf(socket);
  const requestId = randomRequestId();
  const { headers, body } = contentOf(raw, answers, requestId);
  response.writeHead(raw.status, headers).end(body);
  reportRefusal(raw, answers, { requestId, method, peer, startedAt });
};

/** The method in the summary of a request whose method is not known. */
const UNREAD = 'unread';

type Refused = { requestId: string; method: string | undefined; peer: string | undefined; startedAt: number };

const reportRefusal = (
  { status, refusal }: RawRefusal,
  { onRefused, onFault }: RawAnswers,
  { requestId, method = UNREAD, peer, startedAt }: Refused,
): void => {
  const durationMs = performance.now() - startedAt;
  const { code } = refusal;
  const summary = present({ route: UNMATCHED, method, status, code, durationMs, requestId, peer });
  report(present({ onRequest: onRefused, onFault }), summary);
};

/** Node's servers for HTTP hand over sockets, whatever their types say. Undefined after the client has left. */
const addressOf = (socket: Duplex & Partial<Pick<Socket, 'remoteAddress'>>): string | undefined => socket.remoteAddress;

type SocketAnswers = {
  /** Must be called for every request, in order of arrival, except requests of a connection that `isFull`. */
  track(request: IncomingMessage, response: ServerResponse): void;
  /** Whether this connection accepts no more requests: too many wait for their answers, or it was refused. */
  isFull(socket: Duplex): boolean;
  /**
   * Answers a broken request, for which Node has no response object: after the answers to earlier requests, then ends the connection.
   * Writes nothing when the broken request's own answer has begun. Once per socket; `atOnce` when no bytes are on their way. `method` where it is known.
   */
  refuse(socket: Duplex, raw: RawRefusal, atOnce: boolean, method?: string): Promise<void>;
};

type Latest = { response: ServerResponse; before: ServerResponse | undefined; waiting: number };

export const createSocketAnswers = (answers: RawAnswers): SocketAnswers => {
  const latest = new WeakMap<Duplex, Latest>();
  const refused = new WeakSet<Duplex>();
  return {
    track: ({ socket }, response) => {
      const last = latest.get(socket);
      latest.set(socket, { response, before: last?.response, waiting: (last?.waiting ?? 0) + 1 });
      response.once('close', () => {
        const now = latest.get(socket);
        if (now !== undefined) now.waiting -= 1;
      });
    },
    isFull: (socket) => refused.has(socket) || (latest.get(socket)?.waiting ?? 0) >= MAX_WAITING,
    refuse: async (socket, raw, atOnce, method) => {
      if (refused.has(socket)) return;
      refused.add(socket);
      socket.on('error', () => socket.destroy());
      const [startedAt, peer] = [performance.now(), addressOf(socket)];
      const { response, before } = latest.get(socket) ?? {};
      const broken = response?.req.complete === false ? response : undefined;
      await isOut(broken === undefined ? response : before);
      if (!socket.writable) return void socket.destroy();
      // Nothing waits from here to the end: otherwise the app could answer or execute the request meanwhile.
      const inHand = broken && inHandOf(broken.req);
      const requestId = inHand?.requestId ?? randomRequestId();
      const text = broken?.headersSent ? '' : textOf(raw, answers, requestId);
      if (atOnce) socket.end(text, () => socket.destroy());
      else endWithLinger(socket, text);
      if (text === '') return;
      if (inHand !== undefined) inHand.refused = { status: raw.status, code: raw.refusal.code };
      else reportRefusal(raw, answers, { requestId, method: method ?? broken?.req.method, peer, startedAt });
    },
  };
};

/** Resolves when this answer is out. Answers leave in the order of their requests, so all earlier ones are out too. */
const isOut = (response: ServerResponse | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (response === undefined || response.writableFinished || response.destroyed) resolve();
    else response.once('close', resolve);
  });

const textOf = (raw: RawRefusal, answers: RawAnswers, requestId: string): string => {
  const { headers, body } = contentOf(raw, answers, requestId);
  return answerText(raw.status, headers, body);
};

/** A whole answer as it goes to a socket for which Node has no response object. */
export const answerText = (status: number, headers: Readonly<Record<string, string>>, body: string): string => {
  // Node writes this header on every answer that has a response object.
  const dated = { ...headers, Date: new Date().toUTCString() };
  const lines = Object.entries(dated).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
};

const contentOf = (
  { refusal }: RawRefusal,
  { hasPages }: RawAnswers,
  requestId: string,
): { headers: Record<string, string>; body: string } => {
  const body = JSON.stringify(envelope({ requestId }, refusal));
  const headers = {
    'Request-Id': requestId,
    ...(hasPages ? { Link: helpLink(refusal.code) } : {}),
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  return { headers, body };
};
