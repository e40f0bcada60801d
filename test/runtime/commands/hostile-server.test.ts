import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const CODE = '28P01\u001b]0;FORGED\u0007\u001b[2J\u009b\nnothing is wrong';

/** Answers every start of a connection with an error of this code, as a server in the place of the database could. */
const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => {
    const fields = Buffer.from(`SFATAL\0VFATAL\0C${CODE}\0Mrefused\0\0`, 'utf8');
    const head = Buffer.alloc(5);
    head.write('E');
    head.writeInt32BE(fields.length + 4, 1);
    socket.end(Buffer.concat([head, fields]));
  });
});
beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
afterAll(() => void server.close());

const listed = async (...more: readonly string[]) => {
  const { port } = server.address() as AddressInfo;
  const DATABASE_URL = `postgres://a:b@127.0.0.1:${port}/c?sslmode=disable`;
  const DATA_DIR = temporaryFolder();
  const MASTER_KEY_FILE = join(DATA_DIR, 'key');
  writeFileSync(MASTER_KEY_FILE, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 });
  const env = { DATABASE_URL, DATA_DIR, MASTER_KEY_FILE };
  const program = runProgram(['src/main.ts', 'company', 'list', ...more], env);
  await program.ended;
  return program.output();
};

it('the code of a database server reaches the terminal without control characters, in one line', async () => {
  const { stderr } = await listed();
  expect(stderr).toContain('28P01\ufffd]0;FORGED\ufffd\ufffd[2J\ufffd\ufffdnothing is wrong');
  expect(stderr.match(/\p{Cc}/gu)).toEqual(['\n']);
});

it('with --json the code is as the server sent it', async () => {
  const { stdout } = await listed('--json');
  expect(JSON.parse(stdout)).toEqual({ error: expect.stringContaining(CODE) });
});
