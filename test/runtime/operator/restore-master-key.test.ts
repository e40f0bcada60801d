import { chmodSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeBackup } from '../../../src/adapters/embedded-postgres/backup.js';
import { masterKeyId } from '../../../src/adapters/vault/master-key.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { restoreOf } from '../../../src/runtime/operator/backup.js';
import { describeWithPostgres, freshDatabase } from '../../support/postgres.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const MADE_AT = '2026-11-21T12:00:00.000Z';
const OF_BACKUP = Buffer.alloc(32, 1);

describeWithPostgres('a restore beside a master key', () => {
  it.each([
    { which: 'of the backup', key: OF_BACKUP, fault: undefined },
    { which: 'of another service', key: Buffer.alloc(32, 2), fault: expect.stringContaining('m1') },
  ])('$which tells whether the service starts with the key', async ({ key, fault }) => {
    const { pool } = await freshDatabase();
    await pool.query('insert into vault_master_keys (generation, key_id, activated_at) values ($1, $2, $3)', [
      'm1',
      masterKeyId(OF_BACKUP),
      MADE_AT,
    ]);
    const backup = join(temporaryFolder(), 'backup');
    await writeBackup({ folder: backup, db: pool, madeAt: MADE_AT, logIsHere: true, onProgress: () => undefined });
    const folder = temporaryFolder();
    // As root the database runs as another user, who must be able to pass through.
    chmodSync(folder, 0o711);
    await writeFile(join(folder, 'master.key'), key.toString('base64'), { mode: 0o600 });
    const read = readConfig({ DATA_DIR: folder });
    if ('problems' in read) throw new Error(read.problems.join('; '));
    const result = await restoreOf(() => read.config)(backup, () => undefined);
    expect(result).toMatchObject({ done: { masterKeyThere: true } });
    expect('done' in result && result.done.masterKeyFault).toEqual(fault);
  });
});
