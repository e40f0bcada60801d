import { connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a server, which can fail as a network does. */
export type TcpLine = {
  /** Of loopback, to connect to. */
  port: number;
  /** Ends every connection; new ones get through. */
  cut(): void;
  /** Ends every connection and each new one, until `goOn`. */
  refuse(): void;
  /** Nothing passes in either direction, as with a stopped server; sent bytes wait. */
  hold(): void;
  /** Requests arrive and answers wait. */
  holdAnswers(): void;
  goOn(): void;
  close(): Promise<void>;
};

/** In front of this server, of any protocol over TCP. */
export const openTcpLine = async (host: string, port: number): Promise<TcpLine> => {
  const sockets = new Set<Socket>();
  const requests = new Set<Socket>();
  const answers = new Set<Socket>();
  let held: 'nothing' | 'answers' | 'all' = 'nothing';
  let refuses = false;
  const isHeld = (from: Socket): boolean => held === 'all' || (held === 'answers' && answers.has(from));

  const forward = (from: Socket, to: Socket, group: Set<Socket>): void => {
    from.setNoDelay(true);
    sockets.add(from);
    group.add(from);
    from.on('data', (chunk) => to.write(chunk));
    from.on('error', () => from.destroy());
    from.on('close', () => {
      for (const set of [sockets, group]) set.delete(from);
      to.destroy();
    });
    if (isHeld(from)) from.pause();
  };
  const hold = (what: typeof held): void => {
    held = what;
    for (const socket of sockets) {
      if (isHeld(socket)) socket.pause();
      else socket.resume();
    }
  };
  const server = createServer((client) => {
    if (refuses) {
      client.on('error', () => undefined);
      client.destroy();
      return;
    }
    const upstream = connect(port, host);
    forward(client, upstream, requests);
    forward(upstream, client, answers);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the line has no port');
  const cut = (): void => {
    for (const client of requests) client.destroy();
  };
  return {
    port: address.port,
    cut,
    refuse: () => {
      refuses = true;
      cut();
    },
    hold: () => hold('all'),
    holdAnswers: () => hold('answers'),
    goOn: () => {
      refuses = false;
      hold('nothing');
    },
    close: async () => {
      cut();
      await new Promise((closed) => server.close(closed));
    },
  };
};
