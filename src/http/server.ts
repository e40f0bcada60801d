import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { refuse } from './answer.js';
import { boundConnections } from './bound-connections.js';
import { randomRequestId } from './call.js';
import { closeServer, createDrain, type Drain, watchSilent } from './drain.js';
import { localOrigin } from './local-origin.js';
import { answerHalfClosed, boundRequests } from './node-parser.js';
import {
  answerRaw,
  BAD_REQUEST,
  createSocketAnswers,
  EXPECTATION_FAILED,
  isKnownVersion,
  isStopped,
  isTimeout,
  MAX_HEADERS,
  type ParseFault,
  type RawAnswers,
  type RawRefusal,
  ROUTE_NOT_FOUND,
  refusalOfFault,
  refusalOfRequest,
  TOO_MANY_WAITING,
} from './raw-answer.js';
import { endWithUnreadBody, stopReading, stopTinyChunks } from './unread-body.js';

/** What answers the requests: `fetch` of an app, or a function around it. */
export type AppFetch = Hono['fetch'];

type Start = () => unknown;
type Waiting = { response: ServerResponse; start: Start };

/** Starts the requests of each connection one by one, so that a packet full of requests does not fill a turn of the event loop. */
type ConnectionQueue = {
  /** Calls `start` at once, or one turn after the previous answer is out; never when the connection ends before. */
  add(request: IncomingMessage, response: ServerResponse, start: Start): void;
};

const createConnectionQueue = (): ConnectionQueue => {
  const busy = new WeakMap<Duplex, Waiting[]>();
  const run = (socket: Duplex, { response, start }: Waiting): void => {
    response.once('close', () => startNext(socket));
    start();
  };
  const startNext = (socket: Duplex): void => {
    const waiting = busy.get(socket);
    if (waiting === undefined || waiting.length === 0) busy.delete(socket);
    else setImmediate(next, socket, waiting);
  };
  const next = (socket: Duplex, waiting: Waiting[]): void => {
    if (!socket.writable) closeAll(waiting);
    const first = waiting.shift();
    if (first !== undefined) run(socket, first);
  };
  return {
    add: ({ socket }, response, start) => {
      const waiting = busy.get(socket);
      if (waiting !== undefined) {
        waiting.push({ response, start });
        return;
      }
      busy.set(socket, []);
      run(socket, { response, start });
    },
  };
};

/** Node reports nothing about an answer that never began; listeners that count on its end need the event. */
const closeAll = (waiting: Waiting[]): void => {
  for (const { response } of waiting.splice(0)) response.emit('close');
};

export type RunningServer = {
  /** `http://host:port`, with the actual port, as a client on this machine opens it. */
  url: string;
  /** From here on each answer ends its connection. Connections are taken as before. */
  drain(): void;
  /**
   * Takes no new connection, finishes the requests in flight for at most `drainMs`, then cuts the rest. Answers end their connections, because a
   * client that is never idle would otherwise continue until it is cut in the middle of a request. Connections without a request stay open for
   * `idleMs` (default 0), and those on which nothing was ever received for a second at least.
   */
  close(drainMs: number, idleMs?: number): Promise<void>;
};

/** In milliseconds and bytes, under Node's names. */
export type ServerLimits = {
  headersTimeout: number;
  /** Time for the whole request. */
  requestTimeout: number;
  /** How often the two limits above are checked. */
  connectionsCheckingInterval: number;
  keepAliveTimeout: number;
  /**
   * Longest time without a byte in either direction while a request is under way, so that a client that reads nothing keeps no connection. Longer than
   * `requestTimeout` and `connectionsCheckingInterval` together, because this limit ends the connection without an answer.
   */
  timeout: number;
  maxHeaderSize: number;
  /** Connections at once, as `boundConnections` keeps them. Undefined: no limit. */
  maxConnections?: number;
};

/** `onDrop` is called for each connection that the limit closed. `nowMs`: monotonic, for that limit. `hasPages`: false unless given. */
export type ServerOptions = Partial<ServerLimits> & Partial<RawAnswers> & { onDrop?: () => void; nowMs?: () => number };

export const LIMITS: ServerLimits = {
  headersTimeout: 15_000,
  /** Enough for 10 MiB over a slow line. */
  requestTimeout: 120_000,
  connectionsCheckingInterval: 30_000,
  /**
   * Longer than a usual proxy keeps a connection without a request (nginx and the balancers of AWS 60 s, Traefik 90 s, Caddy 120 s), so that the proxy
   * closes first: a POST that meets the end of its connection is answered 502 there.
   */
  keepAliveTimeout: 125_000,
  timeout: 155_000,
  maxHeaderSize: 16 * 1024,
};

/** Listens on the address; rejects when the address cannot be taken. Port 0 takes a free port. */
export const listen = async (
  app: { fetch: AppFetch },
  { host, port }: { host: string; port: number },
  {
    onDrop,
    nowMs,
    maxConnections,
    hasPages = false,
    onRefused,
    onFault,
    timeout = LIMITS.timeout,
    ...limits
  }: ServerOptions = {},
): Promise<RunningServer> => {
  // A missing Host header is refused below, because Node's refusal has no envelope. `insecureHTTPParser` is set, so that NODE_OPTIONS cannot make the
  // server read a request otherwise than a proxy before it does, by which a client could put bytes before the request of another client.
  const server = createServer({ ...LIMITS, ...limits, requireHostHeader: false, insecureHTTPParser: false });
  server.timeout = timeout;
  server.maxHeadersCount = MAX_HEADERS + 1;
  answerHalfClosed(server);
  if (maxConnections !== undefined) boundConnections(server, { most: maxConnections, nowMs, onDrop: () => onDrop?.() });
  const drain = createDrain();
  const endSilent = watchSilent(server);
  answerWith(server, app, drain, { hasPages, onRefused, onFault });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: localOrigin(host, taken),
    drain: () => drain.begin(),
    close: (drainMs, idleMs = 0) => {
      drain.begin();
      return closeServer(server, { drainMs, idleMs, endSilent });
    },
  };
};

/** Every request gets the envelope, also an invalid one that never reaches the app (docs/contract.md, "Errors"). */
const answerWith = (server: Server, app: { fetch: AppFetch }, drain: Drain, raw: RawAnswers): void => {
  const answers = createSocketAnswers(raw);
  const { hasPages } = raw;
  const toApp = getRequestListener(app.fetch, {
    // Only an HTTP/1.0 request may lack a Host header. Nothing depends on the name.
    hostname: 'localhost',
    // The cleanup would read up to 64 MiB more. Instead, an unread body ends the connection.
    autoCleanupIncoming: false,
    errorHandler: (error) => {
      // Handed on to the caller of `toApp`, who knows the request: the app never got it.
      if (error instanceof RequestError) throw error;
      return ended(refuse({ requestId: randomRequestId(), hasPages }, BAD_REQUEST.refusal));
    },
  });
  const queue = createConnectionQueue();
  // After an answer that ends the connection a client may send as fast as before, for as long as it is given to read that answer.
  boundRequests(server, (socket) => !socket.writable || answers.isFull(socket));
  const take = (request: IncomingMessage, response: ServerResponse, refusal: RawRefusal | undefined): unknown => {
    stopTinyChunks(request);
    // An answer has ended the connection: no further request on it is executed (RFC 9112 section 9.6), as it could get no answer.
    if (!request.socket.writable) return;
    if (answers.isFull(request.socket)) return answers.refuse(request.socket, TOO_MANY_WAITING, false, request.method);
    answers.track(request, response);
    drain.track(request, response);
    endWithUnreadBody(request, response);
    return queue.add(request, response, () =>
      refusal === undefined
        ? toApp(request, response).catch(() => answerRaw(response, BAD_REQUEST, raw))
        : answerRaw(response, refusal, raw),
    );
  };
  server.on('request', (request, response) => take(request, response, refusalOfRequest(request)));
  server.on('checkExpectation', (request, response) => take(request, response, EXPECTATION_FAILED));
  server.on('connect', ({ method, httpVersion }, socket) =>
    answers.refuse(socket, isKnownVersion(httpVersion) ? ROUTE_NOT_FOUND : BAD_REQUEST, false, method),
  );
  server.on('clientError', (fault: ParseFault, socket) => {
    if (fault.code === 'ECONNRESET') return socket.destroy();
    // The connection has ended: what was written last ends it in full, and a close now would make the client lose that.
    if (isStopped(fault) && !socket.writable) return stopReading(socket);
    return answers.refuse(socket, refusalOfFault(fault), isTimeout(fault));
  });
};

/** The connection ends with this answer: nothing paces refusals that never reach the app. */
const ended = (answer: Response): Response => {
  answer.headers.set('connection', 'close');
  return answer;
};
