import { listen } from '../../../src/http/server.js';

/** Serves an answer to every request, under the NODE_OPTIONS of this process. */
const server = await listen({ fetch: () => new Response('{}') }, { host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ msg: 'ready', url: server.url })}\n`);
