import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isHeldBack } from './in-hand.js';

type Exchange = { request: IncomingMessage; response: ServerResponse };

type ConnectionBound = {
  /** Connections at once. */
  most: number;
  /** Called for each connection that was closed. */
  onDrop: () => void;
};

/**
 * Keeps at most `most` connections open at once. A further connection takes the place of the one that has waited longest for its client, so that
 * neither silent connections nor slow requests shut others out. Where the service works on a request of every other connection, the new connection is
 * closed unread.
 */
export const boundConnections = (server: Server, { most, onDrop }: ConnectionBound): void => {
  // A Map keeps insertion order: the connection whose wait or request began first comes first.
  const open = new Map<Duplex, readonly Exchange[]>();
  const longest = (): Duplex | undefined => {
    for (const [socket, [first]] of open) if (first === undefined || waitsForClient(first)) return socket;
    return undefined;
  };
  const putLast = (socket: Duplex, exchanges: readonly Exchange[]): void => {
    open.delete(socket);
    open.set(socket, exchanges);
  };
  server.on('connection', (socket) => {
    const leaving = open.size < most ? undefined : (longest() ?? socket);
    open.set(socket, []);
    socket.once('close', () => open.delete(socket));
    if (leaving === undefined) return;
    onDrop();
    open.delete(leaving);
    leaving.destroy();
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    const before = open.get(socket);
    if (before === undefined) return;
    const exchange = { request, response };
    if (before.length === 0) putLast(socket, [exchange]);
    else open.set(socket, [...before, exchange]);
    response.once('close', () => {
      const left = open.get(socket)?.filter((one) => one !== exchange);
      if (left?.length === 0) putLast(socket, left);
      else if (left !== undefined) open.set(socket, left);
    });
  });
};

/**
 * Whether the oldest exchange of a connection needs no work of the service now: its body is still coming, its answer is not taken, or a refusal is held
 * back. Answers leave in order, so the requests behind it wait too.
 */
const waitsForClient = ({ request, response }: Exchange): boolean =>
  !request.complete || response.writableEnded || isHeldBack(request);
