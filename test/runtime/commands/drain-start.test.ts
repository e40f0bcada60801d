import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabaseLine } from '../../support/database-line.js';
import { type CrashHarness, openCrashHarness } from '../../support/harness/crash.js';
import { startRoles } from '../../support/harness/members.js';
import { runProgram } from '../../support/harness/processes.js';
import { type ExternalSimulator, startExternalSimulator } from '../../support/harness/simulator-process.js';
import { describeWithPostgres } from '../../support/postgres.js';

describeWithPostgres('a process that is told to stop while it starts', () => {
  let simulator: ExternalSimulator;
  let stage: CrashHarness;
  beforeAll(async () => {
    simulator = await startExternalSimulator();
    stage = await openCrashHarness(simulator, '912');
  });
  afterAll(async () => {
    await Promise.all([stage?.close(), simulator?.close()]);
  });

  it('never serves, ends with 0, and leaves nothing in the way of the next', async () => {
    let connected = (): void => undefined;
    const first = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const line = await openDatabaseLine(stage.env.DATABASE_URL ?? '', (answer) => {
      connected();
      return answer;
    });
    const before = await readdir(stage.folder);
    const { ended, signal, output, complaint } = runProgram(['src/main.ts', 'serve'], {
      ...stage.env,
      ...{ DATABASE_URL: line.connectionString, LOG_LEVEL: 'info' },
    });
    // It is past the point where a signal would simply end it, and far from ready.
    await first;
    signal('SIGTERM');
    expect(await ended, complaint()).toEqual({ code: 0, signal: null });
    expect(output().stdout).toContain('"msg":"stopped"');
    expect(output().stdout).not.toContain('"msg":"ready"');
    expect(await readdir(stage.folder)).toEqual(before);
    await line.close();
    const next = await startRoles('all', stage.env);
    expect(await next.program.stop()).toEqual({ code: 0, signal: null });
  });
});
