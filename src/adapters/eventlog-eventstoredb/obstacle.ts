import { readFile } from 'node:fs/promises';
import { connect as connectPlain, isIP, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { errorCode } from '../../lib/error-code.js';
import type { EventLogObstacle } from '../../ports/event-log.js';
import { serversOf } from './address.js';

export type Obstacle = { obstacle: EventLogObstacle; code: string };

const ANSWER_MS = 3_000;

/**
 * What keeps this process from the servers of an address; found by one connection to each server without a login, because the client of a cluster only
 * says that no node was found. Throws `AddressInvalid`.
 */
export const findObstacle = async (url: string): Promise<Obstacle> => {
  const { servers, hasTls, caFile } = serversOf(url);
  const ca = caFile === undefined ? undefined : await readFile(caFile, 'utf8').catch(() => undefined);
  const found = await Promise.all(servers.map((server) => obstacleAt(server, hasTls, ca)));
  // One server with the wrong certificate says more than another that is away, and what keeps all of them away is said by any.
  const worst = ORDER.map((obstacle) => found.find((each) => each.obstacle === obstacle)).find(
    (each) => each !== undefined,
  );
  return worst ?? { obstacle: 'away', code: 'no server' };
};

const ORDER: readonly EventLogObstacle[] = ['untrusted', 'no_tls', 'needs_tls', 'leaderless', 'away'];

type Server = { host: string; port: string };

const obstacleAt = async (server: Server, hasTls: boolean, ca: string | undefined): Promise<Obstacle> => {
  const reached = await codeOf((done) => plainTo(server).once('connect', done));
  if (reached !== undefined) return { obstacle: 'away', code: reached };
  if (!hasTls) {
    const refused = await codeOf((done) => tlsTo(server, undefined, false).once('secureConnect', done));
    if (refused === undefined) return { obstacle: 'needs_tls', code: 'tls=false' };
    // A server without TLS refuses the handshake at once; one that hangs is silent.
    return refused === TOO_LATE ? { obstacle: 'away', code: refused } : LEADERLESS;
  }
  const code = await codeOf((done) => tlsTo(server, ca, true).once('secureConnect', done));
  if (code === undefined) return LEADERLESS;
  if (code === TOO_LATE) return { obstacle: 'away', code };
  return { obstacle: NO_TLS.test(code) ? 'no_tls' : 'untrusted', code };
};

const LEADERLESS: Obstacle = { obstacle: 'leaderless', code: 'no_leader' };
const TOO_LATE = 'ETIMEDOUT';

/** A server without TLS answers a handshake in its own protocol, or closes the connection. */
const NO_TLS = /^(?:ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO|ECONNRESET|EPIPE)$/;

const plainTo = ({ host, port }: Server): Socket => connectPlain({ host, port: Number(port) });

const tlsTo = ({ host, port }: Server, ca: string | undefined, rejectUnauthorized: boolean): Socket =>
  connectTls({
    host,
    port: Number(port),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ['h2'],
    rejectUnauthorized,
  });

/** Undefined once the connection is there, else the code of what failed. */
const codeOf = async (open: (done: () => void) => Socket): Promise<string | undefined> =>
  await new Promise((resolve) => {
    const socket = opened(() => open(() => finish(undefined)));
    if (!(socket instanceof Socket)) return resolve(socket.code);
    const timer = setTimeout(() => finish(TOO_LATE), ANSWER_MS);
    const finish = (code: string | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(code);
    };
    // Stays after the end: an error without a listener would end the process.
    socket.on('error', (error) => finish(codeIn(error)));
  });

/** Node throws at once for a port above 65535. */
const opened = (open: () => Socket): Socket | { code: string } => {
  try {
    return open();
  } catch (error) {
    return { code: codeIn(error) };
  }
};

const codeIn = (error: unknown): string => errorCode(error) ?? (error instanceof Error ? error.name : 'unknown error');
