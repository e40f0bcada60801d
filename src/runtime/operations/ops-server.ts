import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isOurHost } from '../../console/access.js';
import { boundConnections } from '../../http/bound-connections.js';
import { answerText, hasSecondHost, type ParseFault } from '../../http/raw-answer.js';
import { sameSecret } from '../../lib/sha256.js';
import { sharedCall } from '../../lib/shared-call.js';
import type { Scrape } from '../metrics/metrics.js';
import type { Readiness, ServiceState } from './readiness.js';

export type OpsServer = { port: number; close(): Promise<void> };

/** Every source must answer in bounded time: a probe without an answer does not say why. */
type OpsSources = {
  readiness(): Promise<Readiness>;
  phase(): ServiceState['phase'];
  scrape(): Promise<Scrape>;
  /** Answers everything below `/console`, for every method. */
  console?: (request: IncomingMessage, response: ServerResponse) => unknown;
  /** The metrics may be read under these host names and those of loopback, or with the token under any name. */
  metrics: { hosts: readonly string[]; token: string | undefined };
  onFault(error: unknown): void;
  /** A connection was closed because more than `maxConnections` were open. */
  onDrop?(): void;
};

type Answer = { status: number; contentType: string; text: string; headers?: Record<string, string> };

/** A health check fails when the server closes its idle connection at the same moment: this is longer than the usual time between two checks. */
const KEEP_ALIVE_MS = 65_000;

/** Time for a whole request: the callers are near, and the longest is a form of 16 KiB. */
const REQUEST_MS = 5_000;

const CHECK_MS = 1_000;

/** Least time between the beginnings of two collections of the metrics. */
const BETWEEN_SCRAPES_MS = 250;

/** Longest time without a byte in either direction; settling an invoice asks the authorizer for up to a minute. */
const SILENT_MS = 120_000;

/** Serves the health pages, which need no authentication, `/metrics` and the support console on the operations port. */
export const startOpsServer = async (
  { host, port, maxConnections }: { host: string; port: number; maxConnections?: number },
  sources: OpsSources,
): Promise<OpsServer> => {
  // Scrapes that come at once share one collection: each renders every series on the thread that answers clients.
  const shared: OpsSources = { ...sources, scrape: sharedCall(sources.scrape, BETWEEN_SCRAPES_MS) };
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: CHECK_MS,
      // Refused below, because Node's refusal has no body.
      requireHostHeader: false,
      // As on the public API, whatever NODE_OPTIONS says.
      insecureHTTPParser: false,
    },
    async (request, response) => {
      if (hasSecondHost(request.rawHeaders)) return send(response, json(400, { error: 'more than one Host header' }));
      if (request.httpVersion === '1.1' && request.headers.host === undefined)
        return send(response, json(400, { error: 'no Host header' }), { connection: 'close' });
      const path = (request.url ?? '').split('?')[0] ?? '';
      if (sources.console !== undefined && isOfConsole(path)) return void sources.console(request, response);
      const answer = await answerTo(request, path, shared).catch((error: unknown) => {
        sources.onFault(error);
        return json(500, { error: 'failed' });
      });
      send(response, answer);
    },
  );
  server.timeout = SILENT_MS;
  answerUnread(server);
  // A form before sign-in costs its sender nothing, and must not shut probes out.
  if (maxConnections !== undefined)
    boundConnections(server, { most: maxConnections, onDrop: () => sources.onDrop?.() });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const isOfConsole = (path: string): boolean => path === '/console' || path.startsWith('/console/');

const answerTo = async (request: IncomingMessage, path: string, sources: OpsSources): Promise<Answer> => {
  const answer = routes.get(path);
  if (answer === undefined) return json(404, { error: 'not found' });
  const { method } = request;
  if (method !== 'GET' && method !== 'HEAD') {
    return { ...json(405, { error: 'only GET and HEAD' }), headers: { allow: 'GET, HEAD' } };
  }
  return (path === '/metrics' ? refusalOfScrape(request, sources.metrics) : undefined) ?? (await answer(sources));
};

/** A browser that DNS rebinding led here sends the attacker's host name and knows no token. */
const refusalOfScrape = ({ headers }: IncomingMessage, { hosts, token }: OpsSources['metrics']): Answer | undefined => {
  if (token === undefined) return isOurHost(headers.host, hosts) ? undefined : json(421, { error: OTHER_NAME });
  const sent = /^Bearer +(?<token>\S+)$/i.exec(headers.authorization ?? '')?.groups?.token ?? '';
  if (sameSecret(sent, token)) return undefined;
  return {
    ...json(401, { error: 'the token of METRICS_TOKEN_FILE is needed' }),
    headers: { 'www-authenticate': 'Bearer' },
  };
};

const OTHER_NAME = 'this name is not one of the service: use 127.0.0.1, localhost, or a name of CONSOLE_HOSTS';

const ready = async ({ readiness }: OpsSources): Promise<Answer> => {
  const seen = await readiness();
  return json(seen.ready ? 200 : 503, seen);
};

/** Asks no engine: when one is away, it is away for every process, and clients get the 503 of the service, which says when to repeat. */
const serving = async ({ phase }: OpsSources): Promise<Answer> => {
  const isServing = phase() === 'serving';
  return json(isServing ? 200 : 503, { serving: isServing });
};

/** True from the first moment of serving, also while draining. */
const startup = async ({ phase }: OpsSources): Promise<Answer> => {
  const isStarted = phase() !== 'starting';
  return json(isStarted ? 200 : 503, { started: isStarted });
};

const routes: ReadonlyMap<string, (sources: OpsSources) => Promise<Answer>> = new Map([
  ['/health/live', async () => json(200, { live: true })],
  ['/health/startup', startup],
  ['/health/serving', serving],
  ['/health/ready', ready],
  ['/metrics', async ({ scrape }) => ({ status: 200, ...(await scrape()) })],
]);

const json = (status: number, body: unknown): Answer => ({
  status,
  contentType: 'application/json',
  text: JSON.stringify(body),
});

/** Node omits the body for HEAD. */
const send = (response: ServerResponse, answer: Answer, more: Record<string, string> = {}): void => {
  response.writeHead(answer.status, { ...headersOf(answer), ...more });
  response.end(answer.text);
};

const headersOf = ({ contentType, text, headers = {} }: Answer): Record<string, string> => ({
  'content-type': contentType,
  'content-length': String(Buffer.byteLength(text)),
  'cache-control': 'no-store',
  ...headers,
});

/** Answers what Node could not read as a request, unless an answer has begun on the connection, and ends the connection. */
const answerUnread = (server: Server): void => {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => latest.set(socket, response));
  server.on('clientError', (fault: ParseFault, socket) => {
    const response = latest.get(socket);
    const hasBegun = response?.headersSent === true && !response.writableFinished;
    if (fault.code === 'ECONNRESET' || !socket.writable || hasBegun) return void socket.destroy();
    const answer = refusalOf(fault);
    const headers = { ...headersOf(answer), connection: 'close' };
    socket.end(answerText(answer.status, headers, answer.text), () => socket.destroy());
  });
};

const refusalOf = ({ code }: ParseFault): Answer => {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return json(431, { error: 'address and headers are too long' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return json(408, { error: 'the request did not come whole in time' });
    default:
      return json(400, { error: 'this is no HTTP request' });
  }
};
