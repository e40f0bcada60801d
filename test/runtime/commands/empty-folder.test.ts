import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../support/harness/processes.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

it('a command in a terminal without the DATA_DIR of the service says that the database which it opens is a new one', async () => {
  const parent = temporaryFolder();
  // The embedded PostgreSQL does not run as root: its user has to pass through.
  chmodSync(parent, 0o711);
  const folder = join(parent, 'data');
  const complaintOf = async (): Promise<string> => {
    const program = runProgram(['src/main.ts', 'company', 'list'], { DATA_DIR: folder });
    expect(await program.ended).toMatchObject({ code: 0 });
    return program.complaint();
  };
  expect(await complaintOf()).toContain(`warning: DATA_DIR ${folder} holds no database yet`);
  expect(await complaintOf()).toBe('');
});
