import type { Context } from 'hono';
import { readOperator } from './access/session.js';
import type { PageContext } from './pages/layout.js';

/** What the guard has found out before a route runs. */
export type ConsoleEnv = {
  /** Of the Node server; absent where there is none. */
  Bindings: { incoming?: { socket: { remoteAddress?: string | undefined } } };
  Variables: {
    page: PageContext;
    /** Of whoever has signed in, as it stands on record. */
    session: string | undefined;
    /** Of a form; a field that was not sent is empty. */
    field: (name: string) => string;
  };
};

export type ConsoleContext = Context<ConsoleEnv>;

/** IP address of the other end of the connection; of a proxy, where one stands between. */
export const peerOf = (c: ConsoleContext): string => c.env.incoming?.socket.remoteAddress ?? '';

/** Who acts: whoever has signed in, else the name that was typed. Undefined when that is none. */
export const actingOperator = (c: ConsoleContext): string | undefined => {
  const { operator } = c.get('page');
  return operator.signedIn ? operator.name : readOperator(c.get('field')('operator'));
};

export const NAME_NEEDED = 'Type your name for the record: letters, digits, spaces and . : _ @ - only, 60 at most.';
