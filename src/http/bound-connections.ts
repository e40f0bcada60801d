import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isHeldBack } from './in-hand.js';

type Exchange = { request: IncomingMessage; response: ServerResponse };

type ConnectionBound = {
  /** Connections at once. */
  most: number;
  /** Called for each connection that was closed. */
  onDrop: () => void;
  /** Monotonic; default: that of the process. */
  nowMs?: (() => number) | undefined;
};

type Busy = { since: number; exchanges: readonly Exchange[] };

/** A connection that has been without a request for so long loses nothing by its end. A client that has just connected needs a moment for its request. */
const WITHOUT_REQUEST_MS = 5_000;

/**
 * Keeps at most `most` connections open at once. A further connection takes the place of one that has been without a request for a while, so that a
 * client with a slow line ends its request. Where no other is so, the one that has waited longest for its client gives way: neither silent connections
 * nor slow requests shut others out. Where the service works on a request of every other connection, the new connection is closed unread.
 */
export const boundConnections = (
  server: Server,
  { most, onDrop, nowMs = () => performance.now() }: ConnectionBound,
): void => {
  // A Map keeps insertion order: the connection that has been without a request longest, or whose request began first, comes first.
  const idle = new Map<Duplex, number>();
  const busy = new Map<Duplex, Busy>();
  const leavingNow = (): Duplex | undefined => {
    const [[silent, silentSince] = [undefined, Number.POSITIVE_INFINITY]] = idle;
    if (nowMs() - silentSince >= WITHOUT_REQUEST_MS) return silent;
    for (const [socket, { since, exchanges }] of busy) {
      if (since >= silentSince) break;
      const [first] = exchanges;
      if (first !== undefined && waitsForClient(first)) return socket;
    }
    return silent;
  };
  const remove = (socket: Duplex): void => {
    idle.delete(socket);
    busy.delete(socket);
  };
  server.on('connection', (socket) => {
    const leaving = idle.size + busy.size < most ? undefined : (leavingNow() ?? socket);
    idle.set(socket, nowMs());
    socket.once('close', () => remove(socket));
    if (leaving === undefined) return;
    onDrop();
    remove(leaving);
    leaving.destroy();
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    const before = busy.get(socket);
    if (before === undefined && !idle.delete(socket)) return;
    const exchange = { request, response };
    busy.set(socket, { since: before?.since ?? nowMs(), exchanges: [...(before?.exchanges ?? []), exchange] });
    response.once('close', () => {
      const now = busy.get(socket);
      if (now === undefined) return;
      const left = now.exchanges.filter((one) => one !== exchange);
      if (left.length > 0) return void busy.set(socket, { since: now.since, exchanges: left });
      busy.delete(socket);
      idle.set(socket, nowMs());
    });
  });
};

/**
 * Whether the oldest exchange of a connection needs no work of the service now: its body is still coming, its answer is not taken, or a refusal is held
 * back. Answers leave in order, so the requests behind it wait too.
 */
const waitsForClient = ({ request, response }: Exchange): boolean =>
  !request.complete || response.writableEnded || isHeldBack(request);
