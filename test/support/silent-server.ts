import { createServer, type Socket } from 'node:net';

/** Takes every connection, says `greeting` to it and nothing more, as a frozen server does or one of another protocol. */
export type SilentServer = {
  /** Of loopback. */
  port: number;
  /** How many connections were made so far. */
  taken(): number;
  /** How many of them are open. */
  open(): number;
  close(): Promise<void>;
};

export const startSilentServer = async ({ greeting = '', port = 0 } = {}): Promise<SilentServer> => {
  const sockets = new Set<Socket>();
  let taken = 0;
  const server = createServer((socket) => {
    taken += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    // Without reading, the end of a connection would not be noticed.
    socket.resume();
    if (greeting !== '') socket.write(greeting);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the silent server has no port');
  return {
    port: address.port,
    taken: () => taken,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};
