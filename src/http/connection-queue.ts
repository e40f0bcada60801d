import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

type Start = () => unknown;
type Waiting = { response: ServerResponse; start: Start };

/** Hands over the requests of each connection one by one: a packet full of requests does not fill a turn of the loop. */
export type ConnectionQueue = {
  /** Calls `start` at once where nothing is before it, else a turn after the answer before it is out, or never when the connection ends. */
  add(request: IncomingMessage, response: ServerResponse, start: Start): void;
};

export const createConnectionQueue = (): ConnectionQueue => {
  const busy = new WeakMap<Duplex, Waiting[]>();
  const run = (socket: Duplex, { response, start }: Waiting): void => {
    response.once('close', () => goOn(socket));
    start();
  };
  const goOn = (socket: Duplex): void => {
    const waiting = busy.get(socket);
    if (waiting === undefined || waiting.length === 0) busy.delete(socket);
    else setImmediate(next, socket, waiting);
  };
  const next = (socket: Duplex, waiting: Waiting[]): void => {
    if (!socket.writable) drop(waiting);
    const first = waiting.shift();
    if (first !== undefined) run(socket, first);
  };
  return {
    add: ({ socket }, response, start) => {
      const waiting = busy.get(socket);
      if (waiting !== undefined) {
        waiting.push({ response, start });
        return;
      }
      busy.set(socket, []);
      run(socket, { response, start });
    },
  };
};

/** Node tells nothing of an answer that never had its turn; what counts on its end must be told. */
const drop = (waiting: Waiting[]): void => {
  for (const { response } of waiting.splice(0)) response.emit('close');
};
