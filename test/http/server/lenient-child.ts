import { listen } from '../../../src/http/server.js';
import { startOpsServer } from '../../../src/runtime/operations/ops-server.js';

const HERE = { host: '127.0.0.1', port: 0 };

/** Both servers of a process, under its NODE_OPTIONS. Each answers every request that it reads. */
const api = await listen({ fetch: () => new Response('{}') }, HERE);
const ops = await startOpsServer(HERE, {
  readiness: () => Promise.reject(new Error('nobody asks')),
  phase: () => 'serving',
  console: (request, response) => void request.resume().on('end', () => response.end('{}')),
  scrape: () => Promise.reject(new Error('nobody asks')),
  metrics: { hosts: [], token: undefined },
  onFault: () => undefined,
});
process.stdout.write(`${JSON.stringify({ msg: 'ready', api: api.url, ops: `http://${HERE.host}:${ops.port}` })}\n`);
