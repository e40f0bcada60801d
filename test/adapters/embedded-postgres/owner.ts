import { startEmbeddedPostgres } from '../../../src/adapters/embedded-postgres/start.js';

// A service that is about to be killed: starts the server of the folder it is given and stays.
const [, , dataDir = ''] = process.argv;
const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
const { superuserConnectionString } = server;
process.stdout.write(`${JSON.stringify({ pid: server.pid(), superuserConnectionString })}\n`);
