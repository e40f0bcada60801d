import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Of a server that stops: its answers say that their connection ends with them, so that no client asks again there. */
export type LastAnswers = {
  /** To be told of every request, in the order in which they come. */
  note(request: IncomingMessage, response: ServerResponse): void;
  /** From now on; answers whose head is not out yet are told too. */
  begin(): void;
};

type Newest = { response: ServerResponse; keepAlive: boolean };

export const createLastAnswers = (): LastAnswers => {
  const newest = new Map<Duplex, Newest>();
  let begun = false;
  const keep = ({ response }: Newest, keepAlive: boolean): void => {
    if (!response.headersSent) response.shouldKeepAlive = keepAlive;
  };
  return {
    note: ({ socket }, response) => {
      const before = newest.get(socket);
      // Node drops the answers behind one that ends the connection: of pipelined requests only the last may do that.
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
