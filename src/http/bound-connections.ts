import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * Keeps at most `most` connections open at once. A further connection takes the place of the connection that waits longest for the head of a request,
 * so that many silent connections do not shut others out. Where every other connection has a request under way, the new connection is closed unread.
 * `onDrop` is called for each connection that was closed.
 */
export const boundConnections = (server: Server, most: number, onDrop: () => void): void => {
  // A Set keeps insertion order: the first connection waits longest.
  const waiting = new Set<Duplex>();
  const underWay = new Map<Duplex, number>();
  let open = 0;
  server.on('connection', (socket) => {
    open += 1;
    waiting.add(socket);
    socket.once('close', () => {
      open -= 1;
      waiting.delete(socket);
      underWay.delete(socket);
    });
    if (open <= most) return;
    onDrop();
    const [longest = socket] = waiting;
    waiting.delete(longest);
    longest.destroy();
  });
  server.on('request', ({ socket }, response) => {
    waiting.delete(socket);
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1;
      if (left > 0) return void underWay.set(socket, left);
      underWay.delete(socket);
      if (!socket.destroyed) waiting.add(socket);
    });
  });
};
