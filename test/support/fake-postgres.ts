import { createServer, type Socket } from 'node:net';

/** Listens where a PostgreSQL server is expected, as any user of a machine may on a port that is free. */
export type FakePostgres = {
  /** Of loopback. */
  port: number;
  /** All that clients sent after the first message, which holds no password. */
  received(): string;
  /** How many connections were made so far. */
  taken(): number;
  /** How many of them are open. */
  open(): number;
  close(): Promise<void>;
};

/** Messages of the server, to be joined to an answer. */
export const BACKEND = {
  ready: message('Z', Buffer.from('I')),
  error: message('E', Buffer.from('SFATAL\0C28P01\0Mno\0\0')),
  full: message('E', Buffer.from('SFATAL\0C53300\0Msorry, too many clients already\0\0')),
  row: Buffer.concat([
    message('T', Buffer.from(`\0\u0001n\0${'\0'.repeat(18)}`)),
    message('D', Buffer.from('\0\u0001\0\0\0\u00011')),
    message('C', Buffer.from('SELECT 1\0')),
  ]),
};

/** An `Authentication…` message: 0 says that all is well, 3 asks for the password, 5 for its MD5, 10 to 12 are the steps of SASL. */
export const authentication = (code: number, more = ''): Buffer =>
  message('R', Buffer.concat([Buffer.from([0, 0, 0, code]), Buffer.from(more, 'latin1')]));

function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** Gives the answers one after another, each to the next message of the client; an answer may depend on that message. */
export const startFakePostgres = async (
  answers: readonly (Buffer | ((message: string) => Buffer))[],
): Promise<FakePostgres> => {
  const sockets = new Set<Socket>();
  let received = '';
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let step = 0;
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (step > 0) received += text;
      const answer = answers[step];
      step += 1;
      if (answer !== undefined) socket.write(typeof answer === 'function' ? answer(text) : answer);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the fake server has no port');
  return {
    port: address.port,
    received: () => received,
    taken: () => taken,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};
