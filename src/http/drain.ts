import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type Socket, Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';

/** Drain of a server that stops: its answers end their connections, so that no client sends further requests there. */
export type Drain = {
  /** Must be called for every request, in order of arrival. */
  track(request: IncomingMessage, response: ServerResponse): void;
  /** Begins the drain; it also covers answers whose head is not out yet. */
  begin(): void;
};

type Newest = { response: ServerResponse; keepAlive: boolean };

export const createDrain = (): Drain => {
  const newest = new Map<Duplex, Newest>();
  let begun = false;
  const keep = ({ response }: Newest, keepAlive: boolean): void => {
    if (!response.headersSent) response.shouldKeepAlive = keepAlive;
  };
  return {
    track: ({ socket }, response) => {
      const before = newest.get(socket);
      // Node drops the answers after one that ends the connection, so only the last of pipelined requests may end it.
      if (begun && before !== undefined) keep(before, before.keepAlive);
      const latest = { response, keepAlive: response.shouldKeepAlive };
      newest.set(socket, latest);
      response.once('close', () => {
        if (newest.get(socket) === latest) newest.delete(socket);
      });
      if (begun) keep(latest, false);
    },
    begin: () => {
      begun = true;
      for (const latest of newest.values()) keep(latest, false);
    },
  };
};

/** Ends the connections on which nothing was ever received. */
export type EndSilent = () => void;

/** Node counts such a connection as busy, because its first request may be on the way. Browsers open some that they may never use. */
export const watchSilent = (server: Server): EndSilent => {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  };
};

const IDLE_CHECK_MS = 50;
/** A client that has just connected needs a moment for its request. */
const SILENT_MS = 1_000;

type Close = { drainMs: number; idleMs: number; endSilent: EndSilent };

/**
 * A proxy sends further requests on a connection that it keeps, and knows nothing of the stop: where its request meets the end of the connection, the
 * proxy answers 502 and does not send a POST again. So connections without a request stay open for `idleMs`, in which an answer ends each that is used.
 */
export const closeServer = (server: Server, { drainMs, idleMs, endSilent }: Close): Promise<void> =>
  new Promise((resolve) => {
    // After the turn of the event loop has read what has come, so that no connection with a request in the socket counts as idle.
    const closeIdle = (): unknown => setImmediate(() => server.closeIdleConnections());
    let checks: NodeJS.Timeout | undefined;
    // A connection becomes idle when its answer is out. The server does not report that, so a timer checks.
    const begin = setTimeout(() => {
      checks = setInterval(closeIdle, IDLE_CHECK_MS);
      closeIdle();
    }, idleMs);
    const silent = setTimeout(() => setImmediate(endSilent), Math.max(idleMs, SILENT_MS));
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    const onClosed = (): void => {
      for (const timer of [begin, checks, silent, cut]) clearTimeout(timer);
      // Ends the checks of time limits, which go on during the drain.
      server.close();
      resolve();
    };
    // `close` of the HTTP server would end idle connections at once.
    TcpServer.prototype.close.call(server, onClosed);
  });
