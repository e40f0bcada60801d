import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LocalServer = { url: string; close(): Promise<void> };

/** An HTTP server on a free port of loopback. */
export const openLocalServer = async (
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<LocalServer> => {
  const server = createServer((request, response) => {
    // A program that was killed has no more use for the answer.
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
