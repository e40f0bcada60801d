import { connect, createServer, type Socket } from 'node:net';

export type SilentProxy = {
  connectionString: string;
  /** From now on what the server answers is lost, while what it is sent still arrives. */
  silence(): void;
  close(): Promise<void>;
};

/** Stands before a server and can lose its answers: the only way to see a commit without its acknowledgement. */
export const silentProxy = async (target: string): Promise<SilentProxy> => {
  const url = new URL(target);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(url.port || 5432), url.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      if (!silent) client.write(chunk);
    });
    client.on('close', () => upstream.end());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  const through = new URL(target);
  through.host = `127.0.0.1:${address.port}`;
  return {
    connectionString: through.href,
    silence: () => {
      silent = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};
