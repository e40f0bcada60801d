import { connect, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';

/** As long as a busy machine may take to answer a goodbye. */
const LATE_MS = 300;

describeWithPostgres('a process that ends its pool while it is in use', () => {
  it('runs until the server has closed its connections, and ends with its own exit code', {
    timeout: 300_000,
  }, async () => {
    const database = await freshDatabase();
    const { hostname, port } = new URL(database.connectionString);
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const upstream = connect(Number(port || 5432), hostname);
      client.on('data', (chunk) => upstream.write(chunk));
      upstream.on('data', (chunk) => client.write(chunk));
      upstream.on('end', () => void setTimeout(() => client.end(), LATE_MS));
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const late = new URL(database.connectionString);
    const address = server.address();
    late.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const program = runProgram(['test/adapters/sql/goodbye-child.ts'], { DATABASE_URL: late.href });
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.output().stdout).toBe('ended\n');
    server.close();
    await database.close();
  });
});
