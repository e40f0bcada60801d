import { connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a database server, which can fail as a network does. */
export type DatabaseLine = {
  /** Of the server, through the line. */
  connectionString: string;
  /** From now on all answers of the server are lost, including the end of a connection; requests still arrive. */
  silence(): void;
  /** Answers arrive again; lost answers stay lost. */
  goOn(): void;
  /** The server of the open connections is gone without a word: nothing passes, and no end of them arrives. New connections get through. */
  vanish(): void;
  /** New connections go to this server; open connections keep their server, as behind a DNS name. */
  switchTo(target: string): void;
  /** Resets every open connection; new connections work. */
  reset(): void;
  close(): Promise<void>;
};

/** `rewrite` may change what the server answers, byte for byte of the same length. */
export const openDatabaseLine = async (
  target: string,
  rewrite: (answer: Buffer) => Buffer = (answer) => answer,
): Promise<DatabaseLine> => {
  let url = new URL(target);
  const clients = new Set<Socket>();
  const sockets = new Set<Socket>();
  const vanished = new WeakSet<Socket>();
  let silent = false;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect(Number(url.port || 5432), url.hostname);
    const isSilent = (): boolean => silent || vanished.has(client);
    clients.add(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        for (const set of [sockets, clients]) set.delete(socket);
      });
    }
    client.on('data', (chunk) => {
      if (!vanished.has(client)) upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (!isSilent()) client.write(rewrite(chunk));
    });
    client.on('end', () => {
      upstream.end();
      if (!isSilent()) client.end();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => {
      if (!isSilent()) client.destroy();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the line has no port');
  const through = new URL(target);
  through.host = `127.0.0.1:${address.port}`;
  return {
    connectionString: through.href,
    silence: () => {
      silent = true;
    },
    goOn: () => {
      silent = false;
    },
    vanish: () => {
      for (const client of clients) vanished.add(client);
    },
    switchTo: (next) => {
      url = new URL(next);
    },
    reset: () => {
      for (const client of clients) client.resetAndDestroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
};
