import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProgram } from '../../support/harness/processes.js';

const FOLLOWING = 'GET /console/following HTTP/1.1\r\nHost: x\r\n\r\n';

describe('a process whose NODE_OPTIONS name --insecure-http-parser', () => {
  let program: Awaited<ReturnType<typeof startProgram<{ api: string; ops: string }>>>;
  beforeAll(async () => {
    program = await startProgram(['test/http/server/lenient-child.ts'], { NODE_OPTIONS: '--insecure-http-parser' });
  });
  afterAll(() => program?.kill());

  describe.each(['api', 'ops'] as const)('as %s', (server) => {
    it.each([
      ['a length and chunks', 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n'],
      ['a space before the colon', 'Transfer-Encoding : chunked\r\nContent-Length: 5\r\n'],
    ])('reads no second request after %s', async (_what, framing) => {
      const { hostname, port } = new URL(program.ready[server]);
      const socket = connect(Number(port), hostname);
      socket.end(`POST /console/first HTTP/1.1\r\nHost: x\r\n${framing}\r\n0\r\n\r\n${FOLLOWING}`);
      expect((await text(socket)).match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 400']);
    });
  });
});
