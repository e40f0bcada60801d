import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { appendAudit } from '../../src/app/audit/audit-trail.js';
import { anchorsOfLog, compareAnchors } from '../../src/app/audit/published-anchors.js';
import { anchorChecks } from '../../src/runtime/operator/anchor-check.js';
import { createAnchorer } from '../../src/workers/anchorer.js';
import { type AuditHarness, emptyAuditHarness } from '../support/harness/audit.js';
import { temporaryFolder } from '../support/temporary-folder.js';

it('reports the day of the anchor, also when midnight passes before it is made', async () => {
  const { log, store, clock, issue } = emptyAuditHarness();
  await issue(1);
  const days = ['2026-11-20T23:59:59.999Z'];
  const anchored: string[] = [];
  const anchor = createAnchorer({
    log,
    store,
    actor: 'timer:anchorer',
    folder: undefined,
    clock: { now: () => days.shift() ?? clock.now() },
    onAnchored: ({ day }) => anchored.push(day),
  });
  await anchor();
  await anchor();
  expect(anchored).toEqual(['2026-11-21']);
});

it.runIf(existsSync('/proc/self'))(
  'fails where its folder cannot be made, so that its leader lets go of the lock',
  async () => {
    const { log, store, clock, issue } = emptyAuditHarness();
    await issue(1);
    const anchor = createAnchorer({ log, store, clock, actor: 'timer:anchorer', folder: '/proc/nfse/anchors' });
    await expect(anchor()).rejects.toMatchObject({ code: 'ENOENT', syscall: 'mkdir' });
  },
);

it('keeps the file that was published before a restore, writes its own beside it, and says so', async () => {
  const folder = temporaryFolder();
  const contradicted: unknown[] = [];
  const anchorerOf = ({ log, store, clock }: AuditHarness) =>
    createAnchorer({
      log,
      store,
      clock,
      folder,
      actor: 'timer:anchorer',
      onContradicted: (found) => contradicted.push(found),
    });
  const files = async () =>
    Promise.all(
      (await readdir(folder)).sort().map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
    );
  const [before, restored] = [emptyAuditHarness(), emptyAuditHarness()];
  for (const n of [1, 2]) await before.issue(n);
  await anchorerOf(before)();
  await anchorerOf(before)();
  const [published] = await files();
  expect(contradicted).toEqual([]);
  expect(await anchorChecks(folder, before.store)).toMatchObject([{ ok: true }]);

  await restored.issue(1);
  for (const _start of [1, 2]) await anchorerOf(restored)();
  const second = expect.stringMatching(/^anchor-2026-11-21_[0-9a-f]{16}\.json$/);
  const said = { day: '2026-11-21', file: 'anchor-2026-11-21.json', second };
  expect(contradicted).toEqual([said, said]);
  expect(await files()).toEqual([published, { name: second, text: expect.any(String) }]);
  const found = [{ kind: 'anchor_mismatch', detail: expect.stringContaining('restored from a backup') }];
  expect(await compareAnchors(await files(), anchorsOfLog(restored.store))).toMatchObject(found);
  expect(await anchorChecks(folder, restored.store)).toMatchObject([
    { ok: false, detail: expect.stringContaining('anchor-2026-11-21.json was published with another content') },
  ]);

  restored.clock.pass(60);
  const deps = { store: restored.store, clock: restored.clock, actor: 'support:ana' } as const;
  await appendAudit('LogRecovered', { unknownNotes: 0, accessKeys: [] }, deps);
  expect(await compareAnchors(await files(), anchorsOfLog(restored.store))).toMatchObject([
    { detail: expect.stringContaining(`recovered after a restore at ${restored.clock.now()}`) },
  ]);
  expect(await anchorChecks(folder, restored.store)).toMatchObject([
    { ok: true, detail: `1 anchor in ${folder} as in the log; 1 more are of the log before its recovery` },
  ]);
});
