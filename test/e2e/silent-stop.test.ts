import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadMasterKeys } from '../../src/adapters/vault/key-file.js';
import { openDatabaseLine } from '../support/database-line.js';
import { startProgram } from '../support/harness/processes.js';
import { describeWithPostgres, freshDatabase } from '../support/postgres.js';
import { becomesNotReady } from '../support/readiness.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describeWithPostgres('a process that is stopped while its database is silent', () => {
  it('ends in order, though no connection can be closed in order', async () => {
    const database = await freshDatabase();
    const line = await openDatabaseLine(database.connectionString);
    const folder = temporaryFolder();
    const masterKeyFile = join(folder, 'master.key');
    await loadMasterKeys(masterKeyFile, { createIfMissing: true });
    const program = await startProgram<{ ops_url: string }>(['src/main.ts', 'serve'], {
      PORT: '0',
      OPS_PORT: '0',
      DATA_DIR: folder,
      DATABASE_URL: line.connectionString,
      MASTER_KEY_FILE: masterKeyFile,
      DATABASE_STATEMENT_TIMEOUT_S: '2',
      DATABASE_LOCK_TIMEOUT_S: '2',
    });
    line.silence();
    await becomesNotReady(program.ready.ops_url, /^database: /);
    await program.stop();
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await line.close();
    await database.close();
  });
});
