import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { refuse } from './answer.js';
import { answerBare, createSocketAnswers } from './bare-answer.js';
import {
  BAD_REQUEST,
  type BareRefusal,
  EXPECTATION_FAILED,
  isTimeout,
  MAX_HEADERS,
  type ParseFault,
  ROUTE_NOT_FOUND,
  refusalOfFault,
  refusalOfRequest,
  TOO_MANY_WAITING,
} from './bare-refusal.js';
import { randomRequestId } from './call.js';
import { createConnectionQueue } from './connection-queue.js';
import { createLastAnswers, type LastAnswers } from './last-answers.js';
import { endWithUnreadBody } from './unread-body.js';

export type RunningServer = {
  /** `http://host:port`, with the port that was really taken. */
  url: string;
  /**
   * Takes no new connection, finishes the requests in flight for at most `drainMs`, then cuts the rest. Answers say that
   * their connection ends: a client that is never idle would go on for ever, and be cut in the middle.
   */
  close(drainMs: number): Promise<void>;
};

/** Milliseconds and bytes, under Node's own names. */
export type ServerLimits = {
  headersTimeout: number;
  /** For the whole request. */
  requestTimeout: number;
  /** How often the two above are looked at. */
  connectionsCheckingInterval: number;
  keepAliveTimeout: number;
  maxHeaderSize: number;
  /** Connections at once; one more is closed before it is read. Undefined: no limit. */
  maxConnections?: number;
};

/** `onDrop` is told of each connection beyond the limit. */
export type ServerOptions = Partial<ServerLimits> & { onDrop?: () => void };

const LIMITS: ServerLimits = {
  headersTimeout: 15_000,
  /** 10 MiB over a slow line. */
  requestTimeout: 120_000,
  connectionsCheckingInterval: 30_000,
  /** Longer than a usual load balancer's, so that it closes first. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
};

/** Rejects when the address cannot be taken. Port 0 takes a free one. */
export const listen = async (
  app: Hono,
  { host, port }: { host: string; port: number },
  { onDrop, maxConnections, ...limits }: ServerOptions = {},
): Promise<RunningServer> => {
  // A missing Host header is refused below: Node's own refusal has no envelope.
  const server = createServer({ ...LIMITS, ...limits, requireHostHeader: false });
  server.maxHeadersCount = MAX_HEADERS + 1;
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.on('drop', () => onDrop?.());
  const lastAnswers = createLastAnswers();
  answerWith(server, app, lastAnswers);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: (drainMs) => {
      lastAnswers.begin();
      return close(server, drainMs);
    },
  };
};

/** Every request gets the envelope, also one that is no HTTP and never reaches the app (spec "Errors"). */
const answerWith = (server: Server, app: Hono, lastAnswers: LastAnswers): void => {
  const answers = createSocketAnswers();
  const toApp = getRequestListener(app.fetch, {
    // Only HTTP/1.0 may come without a Host header; nothing depends on its name.
    hostname: 'localhost',
    // It would read on for 64 MiB: a body that the answer left unread ends the connection instead.
    autoCleanupIncoming: false,
    errorHandler: () => refuse({ requestId: randomRequestId() }, BAD_REQUEST.refusal),
  });
  const queue = createConnectionQueue();
  const take = (request: IncomingMessage, response: ServerResponse, refusal: BareRefusal | undefined): unknown => {
    if (answers.isFull(request.socket)) return answers.refuse(request.socket, TOO_MANY_WAITING, false);
    answers.note(request, response);
    lastAnswers.note(request, response);
    endWithUnreadBody(request, response);
    return queue.add(request, response, () =>
      refusal === undefined ? toApp(request, response) : answerBare(response, refusal),
    );
  };
  server.on('request', (request, response) => take(request, response, refusalOfRequest(request)));
  server.on('checkExpectation', (request, response) => take(request, response, EXPECTATION_FAILED));
  server.on('connect', (_request, socket) => answers.refuse(socket, ROUTE_NOT_FOUND, false));
  server.on('clientError', (fault: ParseFault, socket) =>
    fault.code === 'ECONNRESET' ? socket.destroy() : answers.refuse(socket, refusalOfFault(fault), isTimeout(fault)),
  );
};

const IDLE_CHECK_MS = 50;

/** A connection becomes idle when its answer is out, which the server does not tell: hence the checks. */
const close = (server: Server, drainMs: number): Promise<void> =>
  new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
