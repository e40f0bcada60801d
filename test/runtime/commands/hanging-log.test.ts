import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** As a node that hangs: the operating system accepts the connection, and no TLS handshake is answered. */
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
});
const sockets = new Set<Socket>();

describeWithPostgres('a command beside a node of EventStoreDB that hangs', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    database = await freshDatabase();
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await database.close();
  });

  it('says that no server answers, and ends', async () => {
    const { port } = server.address() as AddressInfo;
    const DATA_DIR = temporaryFolder();
    const MASTER_KEY_FILE = join(DATA_DIR, 'key');
    writeFileSync(MASTER_KEY_FILE, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
    const EVENTSTORE_URL = `esdb://nfse:sesame@localhost:${port}?tls=true`;
    const env = { DATABASE_URL: database.connectionString, DATA_DIR, MASTER_KEY_FILE, EVENTSTORE_URL };
    const program = runProgram(['src/main.ts', 'company', 'list'], env);
    expect(await program.ended).toMatchObject({ code: 3 });
    expect(program.output().stderr).toContain('the event log cannot be reached: no server answers');
    expect(program.output().stderr).not.toContain('sesame');
  });
});
