import { connect, createServer, type Socket } from 'node:net';

/** A proxy in front of a server, double or real, that a test can cut or hold. */
export type Line = {
  /** Of the server, through the line. */
  url: string;
  /** Ends every connection; new ones get through. */
  cut(): void;
  /** Nothing passes in either direction, as with a stopped server; sent bytes wait. */
  hold(): void;
  /** Requests arrive and answers wait. */
  holdAnswers(): void;
  goOn(): void;
  close(): Promise<void>;
};

/** Before the only node of an `esdb://` address. The name of the host stays, so that a certificate still fits it. */
export const openLine = async (url: string): Promise<Line> => {
  const [, head = '', host = '', port = '2113', rest = ''] =
    /^(esdb:\/\/(?:[^@/]*@)?)([^:,/?]+)(?::(\d+))?(.*)$/.exec(url) ?? [];
  const sockets = new Set<Socket>();
  const requests = new Set<Socket>();
  const answers = new Set<Socket>();
  let held: 'nothing' | 'answers' | 'all' = 'nothing';
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
    const upstream = connect(Number(port), host);
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
    url: `${head}${host}:${address.port}${rest}`,
    cut,
    hold: () => hold('all'),
    holdAnswers: () => hold('answers'),
    goOn: () => hold('nothing'),
    close: async () => {
      cut();
      await new Promise((closed) => server.close(closed));
    },
  };
};
