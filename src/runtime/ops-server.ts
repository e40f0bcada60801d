import { createServer } from 'node:http';

export type Readiness = { ready: boolean; checks: Readonly<Record<string, boolean | number | string>> };

export type OpsServer = { port: number; close(): Promise<void> };

/** `/health/live`, `/health/ready`, `/health/startup` on the operations port (interface.md "Environment"). */
export const startOpsServer = async (
  { host, port }: { host: string; port: number },
  readiness: () => Promise<Readiness>,
): Promise<OpsServer> => {
  const server = createServer(async (request, response) => {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(body));
    };
    const path = (request.url ?? '').split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, { error: 'only GET' });
    if (path === '/health/live') return send(200, { live: true });
    if (path !== '/health/ready' && path !== '/health/startup') return send(404, { error: 'not found' });
    const state = await readiness().catch((): Readiness => ({ ready: false, checks: { engines: false } }));
    return send(state.ready ? 200 : 503, state);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
