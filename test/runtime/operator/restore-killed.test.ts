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
  let withKey: string;
  const opened: EmbeddedHarness[] = [];
  beforeAll(async () => {
    old = await openEmbeddedHarness(key);
    backup = join(old.folder, 'backup');
    const at = await old.start();
    await old.register(at);
    expect(await at.operate('backup', '--out', backup)).toMatchObject({ exit: 0 });
    withKey = join(old.folder, 'with-key');
    expect(await at.operate('backup', '--out', withKey, '--with-master-key')).toMatchObject({ exit: 0 });
    await at.stop();
  });
  afterAll(async () => {
    for (const harness of [...opened, old]) await harness.close();
  });

  const emptyFolder = async (): Promise<EmbeddedHarness> => {
    const harness = await openEmbeddedHarness(key);
    opened.push(harness);
    return harness;
  };

  const killAt = async (point: RestorePoint, { folder }: EmbeddedHarness, from: string): Promise<void> => {
    const program = runProgram(['test/runtime/operator/restore-child.ts', from, point], {
      DATA_DIR: folder,
      LOG_LEVEL: 'silent',
    });
    expect(await program.ended, `${point}: ${program.complaint()}`).toEqual({ code: null, signal: 'SIGKILL' });
  };

  /** Given a folder that holds the master key and nothing else, when a restore into it dies at the point. */
  const killedAt = async (point: RestorePoint): Promise<EmbeddedHarness> => {
    const harness = await emptyFolder();
    await cp(join(old.folder, 'master.key'), join(harness.folder, 'master.key'));
    await killAt(point, harness, backup);
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

  it('while it writes a draft is begun anew, and the key that it took from the backup never confirms that backup', async () => {
    const harness = await emptyFolder();
    const left = () => readdir(harness.folder);
    await killAt('the mark is being written', harness, withKey);
    expect(await left()).toContain('restoring.draft');
    await killAt('the copy of the key is being written', harness, withKey);
    expect(await left()).toContainEqual(expect.stringMatching(/^master\.key\.[0-9a-f]{12}\.draft$/));
    await killAt('the copy of the key is in its place', harness, withKey);
    expect(await left()).toContain('master.key');
    // This one has begun anew, and the mark must still tell where the key came from.
    await killAt('the folder is marked', harness, withKey);
    expect(await harness.restore(withKey)).toMatchObject({
      exit: 0,
      out: expect.stringContaining(
        'NOTHING CONFIRMS THE BACKUP: its MAC holds, and an earlier restore took the key of the MAC from a backup',
      ),
    });
    expect((await left()).filter((name) => name.endsWith('.draft') || name === RESTORING)).toEqual([]);
    await expectPaused(harness);
  });

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
