import { connect, type Socket } from 'node:net';

/** Status of the answer; the body is read and dropped. */
type Exchange = (request: string) => Promise<number>;

/**
 * One keep-alive connection that sends ready-made requests. Reads only answers with a
 * `Content-Length`, so that the client costs little of the machine that it shares with the server; the client of the API would cost more.
 */
export const openConnection = async (origin: string): Promise<{ exchange: Exchange; close(): void }> => {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return { exchange: exchangeOver(socket), close: () => socket.destroy() };
};

const exchangeOver = (socket: Socket): Exchange => {
  let received = '';
  let waiting: { resolve(status: number): void; reject(error: Error): void } | undefined;
  const fail = (error: Error): void => waiting?.reject(error);
  socket.setEncoding('latin1');
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (chunk: string) => {
    received = received === '' ? chunk : received + chunk;
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = LENGTH.exec(received)?.[1];
    if (length === undefined) return fail(new Error('an answer without Content-Length'));
    if (received.length < headEnd + 4 + Number(length)) return;
    const status = Number(received.slice(9, 12));
    received = '';
    waiting?.resolve(status);
  });
  return (request) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(request);
    });
};

const LENGTH = /\r\ncontent-length: *(\d+)/i;
