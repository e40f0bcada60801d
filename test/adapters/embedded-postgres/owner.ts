import { startLockedPostgres } from '../../support/locked-postgres.js';

// A service that is about to be killed: starts the server of the folder it is given and stays.
const [, , dataDir = ''] = process.argv;
const server = await startLockedPostgres({ dataDir, log: () => undefined });
const { superuserConnectionString } = server;
process.stdout.write(`${JSON.stringify({ pid: server.pid(), superuserConnectionString })}\n`);
