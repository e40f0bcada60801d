import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import { refuse } from './answer.js';
import { randomRequestId } from './call.js';

export type RunningServer = {
  /** `http://host:port`, with the port that was really taken. */
  url: string;
  /** Takes no new connection, finishes the requests in flight for at most `drainMs`, then cuts the rest. */
  close(drainMs: number): Promise<void>;
};

const LIMITS = {
  headersTimeout: 15_000,
  /** 10 MiB over a slow line. */
  requestTimeout: 120_000,
  /** Longer than a usual load balancer's, so that it closes first. */
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16 * 1024,
} as const;

/** Rejects when the address cannot be taken. Port 0 takes a free one. */
export const listen = async (app: Hono, { host, port }: { host: string; port: number }): Promise<RunningServer> => {
  const server = createServer(
    LIMITS,
    getRequestListener(app.fetch, { errorHandler: () => refuse({ requestId: randomRequestId() }, BAD_REQUEST) }),
  );
  server.on('clientError', answerClientError);
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
    close: (drainMs) => close(server, drainMs),
  };
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

const BAD_REQUEST = {
  code: 'invalid_request',
  message: 'O pedido HTTP não é válido: confira a linha do pedido e os cabeçalhos.',
} as const;

const STATUS_LINES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/** What is no HTTP never reaches the app; it gets the same envelope all the same (spec "Errors"). */
const answerClientError = async (error: NodeJS.ErrnoException, socket: Socket): Promise<void> => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = randomRequestId();
  const body = await refuse({ requestId }, BAD_REQUEST).text();
  const statusLine = STATUS_LINES[error.code ?? ''] ?? '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${statusLine}\r\nRequest-Id: ${requestId}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
};
