import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Time for a client that still sends to read the answer: data that comes after a close would cost it the answer. */
const LINGER_MS = 1_000;

/**
 * An answer that leaves a body unread ends the connection, so that nobody works through the rest of that body. To be called
 * before anything is answered.
 */
export const endWithUnreadBody = (request: IncomingMessage, response: ServerResponse): void => {
  if (!hasBody(request)) return;
  const { writeHead } = response;
  const withEnd = (...parts: Parameters<typeof writeHead>): ServerResponse => {
    if (!hasArrived(request)) {
      response.shouldKeepAlive = false;
      lingerAtEnd(request);
    }
    return writeHead.apply(response, parts);
  };
  response.writeHead = withEnd as typeof writeHead;
  response.once('finish', () => {
    if (!request.readableEnded) request.resume();
  });
};

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Node runs the app between the last byte of a declared body and the end of its message. */
const hasArrived = ({ complete, readableLength, headers }: IncomingMessage): boolean =>
  complete || (headers['transfer-encoding'] === undefined && readableLength === Number(headers['content-length']));

/** Node calls this once the last answer is written. It would close at once, and the client may still be sending. */
const lingerAtEnd = (request: IncomingMessage): void => {
  const { socket } = request;
  socket.destroySoon = () => {
    endWithLinger(socket, '');
    // Each chunk costs a call, however small; a declared length comes in packets.
    if (request.headers['transfer-encoding'] !== undefined) stopReading(socket);
  };
};

/** Ends this side with `text`, and the whole connection a moment later. */
export const endWithLinger = (socket: Duplex, text: string): void => {
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
  socket.end(text);
};

/** For good: the request, which is emptied after its answer, would have the socket read on. */
const stopReading = (socket: Socket): void => {
  socket.on('resume', () => socket.pause());
  socket.pause();
};

const FREE_FRAMING_BYTES = 64 * 1024;
/** Chunks of 48 bytes have as much. */
const FRAMING_SHARE = 1 / 8;

export type FramingCheck = (bodyBytes: number) => boolean;

/**
 * Tells whether the chunks of a body are so small that their framing is most of the work: each one is a call of its own. `bodyBytes`
 * are those that were taken from the request.
 */
export const createFramingCheck = (request: IncomingMessage): FramingCheck => {
  const { socket } = request;
  const before = socket.bytesRead - request.readableLength;
  return (bodyBytes) => {
    // Whatever stands on the wire after a whole body belongs to other requests.
    if (request.complete) return false;
    const body = bodyBytes + request.readableLength;
    return socket.bytesRead - before - body > FREE_FRAMING_BYTES + body * FRAMING_SHARE;
  };
};
