import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { boundChunks } from '../lib/bound-chunks.js';
import { skipBody } from './node-parser.js';

/** Time for a client that is still sending to read the answer: data that arrives after a close would make the client lose the answer. */
const LINGER_MS = 1_000;

/**
 * Makes an answer that leaves a body unread end the connection, so that the rest of the body is never processed. Must be called before any
 * part of the answer is written.
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

/** Node runs the app between the last byte of a declared body and the end of the message. */
const hasArrived = ({ complete, readableLength, headers }: IncomingMessage): boolean =>
  complete || (headers['transfer-encoding'] === undefined && readableLength === Number(headers['content-length']));

/** Node calls `destroySoon` after the last answer. It would close at once, while the client may still be sending. */
const lingerAtEnd = (request: IncomingMessage): void => {
  const { socket } = request;
  socket.destroySoon = () => {
    endWithLinger(socket, '');
    // Each chunk costs a call, however small; a body of declared length arrives in packets.
    if (request.headers['transfer-encoding'] !== undefined) stopReading(socket);
  };
};

/** Ends this side with `text`, and the whole connection after `LINGER_MS`. */
export const endWithLinger = (socket: Duplex, text: string): void => {
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
  socket.end(text);
};

/** Permanently: a request that is emptied after its answer would otherwise make the socket read again. */
export const stopReading = (socket: Duplex): void => {
  socket.off('resume', pauseAgain).on('resume', pauseAgain);
  socket.pause();
};

function pauseAgain(this: Duplex): void {
  this.pause();
}

const tooManyChunks = new WeakSet<IncomingMessage>();

/**
 * Stops a body of very small chunks while its packet is parsed: Node reads up to 32 packets in one turn of the event loop. Further chunks of
 * the body are dropped, and Node stops reading the socket. Must be called before the first byte of the body arrives.
 */
export const stopTinyChunks = (request: IncomingMessage): void => {
  if (request.headers['transfer-encoding'] === undefined) return;
  boundChunks(request, (pushLast) => {
    tooManyChunks.add(request);
    const restore = skipBody(request.socket);
    const { push } = request;
    // Node pushes the end of a body in the turn in which it finds that end, before it reads what follows.
    request.push = (chunk, encoding) => {
      if (chunk === null) restore();
      return push.call(request, chunk, encoding);
    };
    pushLast();
    // Node stops reading the socket.
    return false;
  });
};

const FREE_FRAMING_BYTES = 64 * 1024;
/** Chunks of 48 bytes have this share of framing. */
const FRAMING_SHARE = 1 / 8;

export type FramingCheck = (bodyBytes: number) => boolean;

/**
 * Checks whether the chunks of a body are so small that their framing is most of the work; each chunk costs a call. `bodyBytes` is the number
 * of bytes taken from the request.
 */
export const createFramingCheck = (request: IncomingMessage): FramingCheck => {
  const { socket } = request;
  const before = socket.bytesRead - request.readableLength;
  return (bodyBytes) => {
    if (tooManyChunks.has(request)) return true;
    // Bytes after a complete body belong to other requests.
    if (request.complete) return false;
    const body = bodyBytes + request.readableLength;
    return socket.bytesRead - before - body > FREE_FRAMING_BYTES + body * FRAMING_SHARE;
  };
};
