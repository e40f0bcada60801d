import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { launchServer } from '../../../src/adapters/embedded-postgres/server-process.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it('tells why a server did not start, and not what it said to the clients that tried to connect meanwhile', async () => {
  const lines = [
    'FATAL:  the database system is starting up',
    'FATAL:  could not write to file "pg_wal/xlogtemp.29": No space left on device',
    'LOG:  aborting startup due to startup process failure',
    'FATAL:  the database system is starting up',
    'FATAL:  the database system is not yet accepting connections',
    'FATAL:  the database system is shutting down',
    'LOG:  database system is shut down',
  ];
  const postgres = join(temporaryFolder(), 'postgres');
  writeFileSync(postgres, `#!/bin/sh\n${lines.map((line) => `echo '${line}' >&2\n`).join('')}exit 1\n`, {
    mode: 0o755,
  });
  const launch = { postgres, cluster: '/nowhere', port: 1, user: undefined, socket: undefined, settings: {} };
  await expect(launchServer({ ...launch, log: () => undefined })).rejects.toThrow(
    `PostgreSQL did not start: ${lines[1]}`,
  );
});
