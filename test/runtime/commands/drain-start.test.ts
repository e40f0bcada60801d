import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabaseLine } from '../../support/database-line.js';
import { type CrashHarness, openCrashHarness } from '../../support/harness/crash.js';
import { startRoles } from '../../support/harness/members.js';
import { type Program, runProgram } from '../../support/harness/processes.js';
import { type ExternalSimulator, startExternalSimulator } from '../../support/harness/simulator-process.js';
import { describeWithPostgres } from '../../support/postgres.js';

describeWithPostgres('a process that is told to stop while it starts', () => {
  let simulator: ExternalSimulator;
  let harness: CrashHarness;
  beforeAll(async () => {
    simulator = await startExternalSimulator();
    harness = await openCrashHarness(simulator, '912');
  });
  afterAll(async () => {
    await Promise.all([harness?.close(), simulator?.close()]);
  });

  it('never serves, ends with 0, and leaves nothing in the way of the next', async () => {
    let program: Program | undefined;
    let isTold = false;
    // A process that waits for the first answer of its database handles the signal already, and is far from ready.
    const line = await openDatabaseLine(harness.env.DATABASE_URL ?? '', (answer) => {
      if (!isTold) program?.signal('SIGTERM');
      isTold = true;
      return answer;
    });
    const before = await readdir(harness.folder);
    program = runProgram(['src/main.ts', 'serve'], {
      ...harness.env,
      DATABASE_URL: line.connectionString,
      LOG_LEVEL: 'info',
    });
    expect(await program.ended, program.complaint()).toEqual({ code: 0, signal: null });
    expect(program.output().stdout).toContain('"msg":"stopped"');
    expect(program.output().stdout).not.toContain('"msg":"ready"');
    expect(await readdir(harness.folder)).toEqual(before);
    await line.close();
    const next = await startRoles('all', harness.env);
    expect(await next.program.stop()).toEqual({ code: 0, signal: null });
  });
});
