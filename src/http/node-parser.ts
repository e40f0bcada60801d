import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Node's own parser of a connection. A later Node may lack these parts: then requests are refused and chunks dropped one by one. */
type NodeParser = {
  /** Returns 0 for a request to handle. */
  onIncoming?: (request: IncomingMessage, keepAlive: boolean) => number;
  /** Its callbacks by number. */
  [callback: number]: unknown;
};

type ParsedSocket = Socket & { parser?: NodeParser | null };

/**
 * Ends the parsing of a packet at the first request that `isFull` does not admit, with the fault `HPE_CB_HEADERS_COMPLETE`. A packet holds two
 * thousand requests, and Node would make objects for each.
 */
export const boundRequests = (server: Server, isFull: (socket: Socket) => boolean): void => {
  server.on('connection', (socket: ParsedSocket) => {
    const { parser } = socket;
    const handle = parser?.onIncoming;
    if (!parser || handle === undefined) return;
    parser.onIncoming = (request, keepAlive) => (isFull(socket) ? STOP_PARSING : handle(request, keepAlive));
  });
};

/**
 * Lets a client end its side of the connection after a whole request and still get the answer, as RFC 9112 section 9.6 describes. Without this Node ends
 * the connection at once, so an answer that takes a moment is lost. Node has had the property since its version 0.6, without documentation or type.
 */
export const answerHalfClosed = (server: Server & { httpAllowHalfOpen?: boolean }): void => {
  server.httpAllowHalfOpen = true;
};

/** Any number but those with a meaning (0, 1 and 2) makes the parser fail. */
const STOP_PARSING = -1;

const CALLBACKS = [0, 1, 2, 3, 4, 5, 6];

/**
 * Makes the parser call nothing for the rest of a body. The result must be called at the end of the message: the parser has further messages of its
 * connection, and Node keeps parsers for later connections and for its own calls, which would lose their bodies. At the close, the callback comes back too.
 */
export const skipBody = (socket: ParsedSocket): (() => void) => {
  const { parser } = socket;
  const number = CALLBACKS.find(
    (candidate) => (parser?.[candidate] as { name?: string } | null)?.name === 'parserOnBody',
  );
  if (!parser || number === undefined) return () => {};
  const onBody = parser[number];
  const restore = (): void => {
    parser[number] = onBody;
    socket.off('close', restore);
  };
  parser[number] = undefined;
  socket.once('close', restore);
  return restore;
};
