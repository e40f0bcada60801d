import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { World } from '../environment.js';
import { jsonOf, readBody } from '../http/read-body.js';
import { BadInput } from './input.js';
import { answerControl } from './routes.js';

const MAX_BODY_BYTES = 64 * 1024;

/** The only address: every client of this port decides what the authorizer does. */
const LOOPBACK = '127.0.0.1';

/** A call fails when the server closes its connection at the same moment. So idle connections stay open longer than scripts usually pause. */
const KEEP_ALIVE_MS = 65_000;

/** The plain HTTP control port (JSON, loopback only). */
export const startControl = async (world: World, port: number): Promise<{ port: number; close(): Promise<void> }> => {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    void serve(world, request, response);
  });
  server.listen(port, LOOPBACK);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const serve = async (world: World, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  try {
    // Against DNS rebinding: a web page whose host name resolves to this machine sends that name as its host.
    if (!isLoopbackName(request.headers.host)) return write(response, 403, fault('host', 'must be a loopback name'));
    if (isFromForeignPage(request)) return write(response, 403, fault('origin', 'must be a page of this machine'));
    const url = new URL(request.url ?? '/', 'http://control');
    const body =
      request.method === 'POST'
        ? jsonOf(await readBody(request, MAX_BODY_BYTES))
        : { ok: true as const, value: undefined };
    if (!body.ok) return write(response, body.status, fault('body', 'must be JSON of at most 64 KiB'));
    const answer = await answerControl(world, {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      body: body.value,
    });
    if (answer === undefined) return write(response, 404, fault('path', 'is not a control call'));
    return write(response, answer.status, answer.body);
  } catch (error) {
    if (error instanceof BadInput) return write(response, 400, fault(error.field, error.message));
    return write(response, 500, fault('simulator', 'could not do it'));
  }
};

const isLoopbackName = (host: string | undefined): boolean =>
  /^(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?$/.test(host ?? '');

/** A browser lets any page send a POST of plain text to this machine, and says where the page is from. */
const isFromForeignPage = ({ headers }: IncomingMessage): boolean =>
  headers['sec-fetch-site'] === 'cross-site' ||
  (headers.origin !== undefined && !isLoopbackName(/^https?:\/\/(.*)$/.exec(headers.origin)?.[1]));

const fault = (field: string, message: string) => ({ error: { field, message } });

const write = (response: ServerResponse, status: number, body: unknown): void => {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length });
  response.end(bytes);
};
