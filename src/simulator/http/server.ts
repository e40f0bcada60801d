import { constants } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { KeyAndCertificate } from '../../certificates/issue-certificate.js';
import { unreachable } from '../../domain/common/unreachable.js';
import type { World } from '../environment.js';
import { type Answer, webServerPage } from './answer.js';
import { type Caller, callerOf } from './caller.js';
import { type Handled, handle } from './handle.js';
import { readBody } from './read-body.js';
import { errorsOf } from './variants.js';

type MutualTls = {
  server: KeyAndCertificate;
  /** Authorities whose client certificates are accepted, PEM. */
  clientAuthorities: readonly string[];
  port: number;
  host: string;
  /** Asks for the certificate after the request, by renegotiation, instead of in the handshake. */
  renegotiate: boolean;
};

type Listening = { port: number; close(): Promise<void> };

/** Starts the HTTP/1.1 server over TLS. It judges the certificate per request, because Sefin answers 403 where a handshake would fail. */
export const startAuthorizer = async (
  world: World,
  tls: MutualTls,
  { log, warn }: { log(line: object): void; warn(line: object): void },
): Promise<Listening> => {
  const warned = new Set<string>();
  const logs: Logs = {
    debug: log,
    warnOnce: (cause, line) => {
      (warned.has(cause) ? log : warn)(line);
      warned.add(cause);
    },
    works: () => warned.clear(),
  };
  // Only a TCP socket can be reset, and the TLS socket hides it. This map finds it by the address and port of the client.
  const sockets = new Map<string, Socket>();
  const server = createServer(
    {
      key: tls.server.privateKeyPem,
      cert: tls.server.certificatePem,
      ca: [...tls.clientAuthorities],
      requestCert: !tls.renegotiate,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      sessionIdContext: 'nfse-simulator',
      keepAliveTimeout: 60_000,
      ...(tls.renegotiate && RENEGOTIATING),
    },
    (request, response) => {
      const reset = () => {
        const socket = sockets.get(clientEnd(request.socket));
        if (socket === undefined) request.socket.destroy();
        else socket.resetAndDestroy();
      };
      void serve(world, { request, response, reset, renegotiate: tls.renegotiate }, logs);
    },
  );
  server.on('connection', (socket: Socket) => {
    const end = clientEnd(socket);
    sockets.set(end, socket);
    socket.once('close', () => sockets.delete(end));
  });
  // A client may break off its handshake; the server has nothing to do then.
  server.on('tlsClientError', () => undefined);
  server.listen(tls.port, tls.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets.values()) socket.destroy();
      }),
  };
};

const CREATED = 201;

/** A compressed document in base64 is far smaller. */
const MAX_BODY_BYTES = 6 * 1024 * 1024;

type Logs = {
  debug(line: object): void;
  /** Warns at the first line about this cause, and again after `works`. */
  warnOnce(cause: string, line: object): void;
  /** A note or an event was written. */
  works(): void;
};

type Exchange = { request: IncomingMessage; response: ServerResponse; reset: () => void; renegotiate: boolean };

const serve = async (world: World, { request, response, reset, renegotiate }: Exchange, logs: Logs): Promise<void> => {
  const { method = '', url: path = '' } = request;
  const answered = world.calls.receive({ time: world.clock.now(), method, path });
  try {
    const { socket } = request;
    const body = await readBody(request, MAX_BODY_BYTES);
    if (renegotiate && socket instanceof TLSSocket) await askForCertificate(socket);
    const caller: Caller = socket instanceof TLSSocket ? callerOf(socket) : { kind: 'none' };
    const handled = await handle(world, { method, url: path, body }, caller).catch((error: unknown) =>
      failed(error, logs),
    );
    const { mode } = handled.addressed;
    const codes = codesOf(handled.answer);
    if (outcomeOf(handled) === CREATED) logs.works();
    answered({
      ...(mode !== undefined && { environment: mode }),
      ...(caller.kind === 'known' && { caller: caller.cnpj }),
      ...(handled.dpsId !== undefined && { dps_id: handled.dpsId }),
      outcome: outcomeOf(handled),
      ...(codes.length > 0 && { codes }),
      ...(handled.faults.length > 0 && { faults: handled.faults }),
    });
    send(response, handled.answer, reset);
  } catch (error) {
    answered({ outcome: 'cut' });
    logs.debug({ msg: 'the simulator could not answer', reason: error instanceof Error ? error.name : 'unknown' });
    response.socket?.destroy();
  }
};

/**
 * A failed call, for instance on a full disk. What it wrote may be on disk, so the answer proves nothing. After a failed write no call answers for a
 * note until a write succeeds (`AppendFile`).
 */
const failed = (error: unknown, { warnOnce }: Logs): Handled => {
  const { name = 'unknown', code = '' } = error as Partial<NodeJS.ErrnoException>;
  const msg = 'the simulator could not perform a call, and answers 503: mend the cause, and it continues by itself';
  warnOnce(`${name} ${code}`, { msg, reason: name, ...(code !== '' && { code }) });
  return { answer: webServerPage(503), addressed: { route: { operation: 'none', status: 404 } }, faults: [] };
};

const clientEnd = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

const outcomeOf = ({ answer }: Handled): number | 'cut' | 'reset' =>
  answer.kind === 'cut' || answer.kind === 'reset' ? answer.kind : answer.status;

const codesOf = (answer: Answer): readonly string[] =>
  answer.kind === 'json' ? errorsOf(answer.body).map(({ code }) => String(code)) : [];

/** TLS 1.2, because TLS 1.3 cannot renegotiate. No session is resumed, because a resumed session brings no certificate. */
const RENEGOTIATING = {
  maxVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
} as const;

const asked = new WeakMap<TLSSocket, Promise<void>>();

/**
 * Asks for the client's certificate by a second handshake on the open connection, once per connection. The web server of Sefin does so after
 * it has read the request (docs/national-system.md#renegotiation). Rejects when the client refuses.
 */
const askForCertificate = (socket: TLSSocket): Promise<void> => {
  const asking = asked.get(socket) ?? renegotiate(socket);
  asked.set(socket, asking);
  return asking;
};

const renegotiate = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the client went away'));
    socket.once('close', gone);
    socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, (error) => {
      socket.off('close', gone);
      if (error === null) resolve();
      else reject(error);
    });
  });

/** Writes the answer, or closes or resets the connection as the answer says. `reset` sends a TCP RST. */
const send = (response: ServerResponse, answer: Answer, reset: () => void): void => {
  switch (answer.kind) {
    case 'json':
      write(response, answer.status, 'application/json; charset=utf-8', JSON.stringify(answer.body));
      return;
    case 'problem':
      write(response, answer.status, 'application/problem+json; charset=utf-8', JSON.stringify(answer.body));
      return;
    case 'html':
      if (answer.location !== undefined) response.setHeader('location', answer.location);
      write(response, answer.status, 'text/html', page(answer.title));
      return;
    case 'raw':
      write(response, answer.status, 'application/json; charset=utf-8', answer.text);
      return;
    case 'empty':
      response.writeHead(answer.status, { 'content-length': 0 });
      response.end();
      return;
    case 'cut':
      response.socket?.destroy();
      return;
    case 'reset':
      reset();
      return;
    default:
      unreachable(answer);
  }
};

const write = (response: ServerResponse, status: number, contentType: string, text: string): void => {
  const bytes = Buffer.from(text, 'utf8');
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length, ...EXTRA_HEADERS[status] });
  response.end(bytes);
};

const EXTRA_HEADERS: Readonly<Record<number, Record<string, string>>> = { 429: { 'retry-after': '1' } };

const page = (title: string): string =>
  `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\r\n` +
  `<html xmlns="http://www.w3.org/1999/xhtml">\r\n<head>\r\n<title>${title}</title>\r\n</head>\r\n` +
  `<body>\r\n<div id="header"><h1>Server Error</h1></div>\r\n<h2>${title}</h2>\r\n</body>\r\n</html>\r\n`;
