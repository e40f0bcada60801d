import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type Exchange = { request: IncomingMessage; response: ServerResponse };

type ConnectionBound = {
  /** Connections at once. */
  most: number;
  /** True: a request whose body is still coming, or whose answer the client does not take, gives way too. Default false. */
  slowGiveWay?: boolean;
  /** Called for each connection that was closed. */
  onDrop: () => void;
};

/**
 * Keeps at most `most` connections open at once. A further connection takes the place of the connection that waits longest for the head of a request,
 * so that many silent connections do not shut others out. Where every other connection has a request under way, the new connection is closed unread.
 * With `slowGiveWay` the connection of the oldest request that waits for a slow client is closed in its place.
 */
export const boundConnections = (server: Server, { most, slowGiveWay = false, onDrop }: ConnectionBound): void => {
  // A Set and a Map keep insertion order: the first connection waits longest.
  const waiting = new Set<Duplex>();
  const underWay = new Map<Duplex, Exchange[]>();
  let open = 0;
  const slowest = (): Duplex | undefined =>
    slowGiveWay ? [...underWay].find(([, [first]]) => first !== undefined && waitsForClient(first))?.[0] : undefined;
  server.on('connection', (socket) => {
    open += 1;
    const [longest = slowest() ?? socket] = waiting;
    waiting.add(socket);
    socket.once('close', () => {
      open -= 1;
      waiting.delete(socket);
      underWay.delete(socket);
    });
    if (open <= most) return;
    onDrop();
    waiting.delete(longest);
    underWay.delete(longest);
    longest.destroy();
  });
  server.on('request', (request, response) => {
    const { socket } = request;
    waiting.delete(socket);
    underWay.set(socket, [...(underWay.get(socket) ?? []), { request, response }]);
    response.once('close', () => {
      const left = (underWay.get(socket) ?? []).filter((one) => one.response !== response);
      if (left.length > 0) return void underWay.set(socket, left);
      underWay.delete(socket);
      if (!socket.destroyed) waiting.add(socket);
    });
  });
};

/** Of the requests of one connection the first decides: answers leave in order. */
const waitsForClient = ({ request, response }: Exchange): boolean => !request.complete || response.writableEnded;
