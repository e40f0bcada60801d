import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESTORING } from '../../../src/adapters/embedded-postgres/half-restored.js';
import { type EmbeddedHarness, openEmbeddedHarness } from '../../support/harness/embedded-service.js';
import { runProgram } from '../../support/harness/processes.js';
import { RESTORE_POINTS, type RestorePoint } from './restore-points.js';

const UNFINISHED = 'holds a restore that has not ended';
const key = { live: '' };

describe('a restore that is killed', () => {
  let old: EmbeddedHarness;
  let backup: string;
  const opened: EmbeddedHarness[] = [];
  beforeAll(async () => {
    old = await openEmbeddedHarness(key);
    backup = join(old.folder, 'backup');
    const at = await old.start();
    await old.register(at);
    expect(await at.operate('backup', '--out', backup)).toMatchObject({ exit: 0 });
    await at.stop();
  });
  afterAll(async () => {
    for (const harness of [...opened, old]) await harness.close();
  });

  /** Given a folder that holds the master key and nothing else, when a restore into it dies at the point. */
  const killedAt = async (point: RestorePoint): Promise<EmbeddedHarness> => {
    const harness = await openEmbeddedHarness(key);
    opened.push(harness);
    await cp(join(old.folder, 'master.key'), join(harness.folder, 'master.key'));
    const program = runProgram(['test/runtime/operator/restore-child.ts', backup, point], {
      DATA_DIR: harness.folder,
      LOG_LEVEL: 'silent',
    });
    expect(await program.ended, program.complaint()).toEqual({ code: null, signal: 'SIGKILL' });
    return harness;
  };

  const expectPaused = async (harness: EmbeddedHarness): Promise<void> => {
    const at = await harness.start();
    expect(await at.ask('/v1/nfse?reference=x')).toMatchObject({ status: 503 });
    expect(await at.operate('doctor')).toMatchObject({ out: expect.stringMatching(/BAD +guards .*issuing is paused/) });
    await at.stop();
  };

  it.each(RESTORE_POINTS)(
    'when %s leaves a folder that nothing starts on, and the next restore begins anew',
    async (point) => {
      const harness = await killedAt(point);
      await expect(harness.start()).rejects.toThrow(UNFINISHED);
      expect(await harness.restore(backup)).toMatchObject({
        exit: 0,
        out: expect.stringContaining('Issuing is paused'),
      });
      expect(await readdir(harness.folder)).not.toContain(RESTORING);
      await expectPaused(harness);
    },
  );

  it('after its rows were committed leaves them with the pause, also for a program that does not know the mark', async () => {
    const harness = await killedAt('the rows are committed');
    await rm(join(harness.folder, RESTORING));
    await expectPaused(harness);
  });

  it('is not begun anew over a folder that holds anything else', async () => {
    const harness = await killedAt('the folder is marked');
    await cp(join(backup, 'manifest.json'), join(harness.folder, 'mine.json'));
    expect(await harness.restore(backup)).toMatchObject({ exit: 1, out: expect.stringContaining('mine.json') });
    expect(await readdir(harness.folder)).toContain('mine.json');
  });
});
