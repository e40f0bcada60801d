import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveParent } from './child.js';

const BYTES = 10_000;
/** So that 32 connections ask about as often as they can ask the service. */
const ANSWERED_AFTER_MS = 30;

/** A server that has nothing to do with the service. What a flood of it costs another client is the machine's part. */
await serveParent<null, never>(async () => {
  const answer = Buffer.alloc(BYTES);
  const server = createServer((_request, response) => setTimeout(() => response.end(answer), ANSWERED_AFTER_MS));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
  };
  return { ready: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
});
