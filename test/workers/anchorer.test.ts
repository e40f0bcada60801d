import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendAudit } from '../../src/app/audit/audit-trail.js';
import { anchorsOfLog, compareAnchors } from '../../src/app/audit/published-anchors.js';
import { anchorAges, anchorChecks } from '../../src/runtime/operator/anchor-check.js';
import { createAnchorer } from '../../src/workers/anchorer.js';
import { type AuditHarness, emptyAuditHarness } from '../support/harness/audit.js';
import { chained, NONE } from '../support/harness/event-log.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const ofFolder = (folder: string, { store, log, clock }: AuditHarness) => ({
  folder,
  store,
  log,
  clock,
  isSwept: false,
});

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
    await expect(anchor()).rejects.toMatchObject({
      file: '/proc/nfse/anchors/anchor-2026-11-21.json',
      cause: { code: 'ENOENT', syscall: 'mkdir' },
    });
  },
);

it('writes the file of the day again where the folder was lost or emptied, and says so', async () => {
  const at = emptyAuditHarness();
  const folder = join(temporaryFolder(), 'anchors');
  const [anchored, again]: [string[], unknown[]] = [[], []];
  const anchor = createAnchorer({
    ...at,
    folder,
    actor: 'timer:anchorer',
    onAnchored: ({ day }) => anchored.push(day),
    onPublishedAgain: (found) => again.push(found),
  });
  await at.issue(1);
  await anchor();
  const file = join(folder, 'anchor-2026-11-21.json');
  const text = await readFile(file, 'utf8');
  await anchor();
  expect(again).toEqual([]);
  await rm(folder, { recursive: true });
  for (const _sweep of [1, 2]) await anchor();
  expect(await readFile(file, 'utf8')).toBe(text);
  expect([anchored, again]).toEqual([['2026-11-21'], [{ day: '2026-11-21', file: 'anchor-2026-11-21.json' }]]);
  await rm(folder, { recursive: true });
  await writeFile(folder, '');
  await expect(anchor()).rejects.toMatchObject({ file, cause: { code: 'ENOTDIR' } });
});

it('publishes and reports the anchor of the day, also what contradicts it, once its folder can be used again', async () => {
  const at = emptyAuditHarness();
  const folder = join(temporaryFolder(), 'anchors');
  const [anchored, contradicted]: [string[], string[]] = [[], []];
  const anchor = createAnchorer({
    ...at,
    folder,
    actor: 'timer:anchorer',
    onAnchored: ({ day }) => anchored.push(day),
    onContradicted: ({ second }) => contradicted.push(second),
  });
  await at.issue(1);
  await writeFile(folder, '');
  await expect(anchor()).rejects.toMatchObject({ cause: { code: 'ENOTDIR' } });
  expect(anchored).toEqual([]);
  await rm(folder);
  await mkdir(folder);
  await writeFile(join(folder, 'anchor-2026-11-21.json'), '{}');
  await anchor();
  expect(anchored).toEqual(['2026-11-21']);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(contradicted));
  expect(contradicted).toHaveLength(1);
});

describe('doctor', () => {
  const anchorerOf = ({ log, store, clock }: AuditHarness, folder: string | undefined) =>
    createAnchorer({ log, store, clock, folder, actor: 'timer:anchorer' });

  it('finds a folder of anchors that cannot be read, unless the log has none yet', async () => {
    const at = emptyAuditHarness();
    const missing = join(temporaryFolder(), 'anchors');
    await at.issue(1);
    expect(await anchorChecks(ofFolder(missing, at))).toMatchObject([{ ok: true }]);
    await anchorerOf(at, undefined)();
    const found = {
      ok: false,
      detail: `${missing} cannot be read (ENOENT)`,
      cure: expect.stringMatching(/^mount or make the folder ANCHOR_DIR/),
    };
    expect(await anchorChecks(ofFolder(missing, at))).toMatchObject([found]);
    await writeFile(missing, '');
    const isFile = { ok: false, detail: `${missing} cannot be read (ENOTDIR)` };
    expect(await anchorChecks(ofFolder(missing, at))).toMatchObject([isFile]);
  });

  it('finds that two days of anchors were not written into the folder', async () => {
    const [at, folder] = [emptyAuditHarness(), temporaryFolder()];
    await at.issue(1);
    await anchorerOf(at, folder)();
    for (const n of [2, 3]) {
      at.clock.pass(86_400);
      expect(await anchorChecks(ofFolder(folder, at))).toMatchObject([{ ok: true }]);
      await at.issue(n);
      await anchorerOf(at, undefined)();
    }
    expect(await anchorChecks(ofFolder(folder, at))).toMatchObject([{ ok: true }]);
    at.clock.pass(86_400);
    await anchorerOf(at, undefined)();
    const detail = `${folder} holds no anchor after that of 2026-11-21, and the log has later ones`;
    expect(await anchorChecks(ofFolder(folder, at))).toMatchObject([{ ok: false, detail }]);
    expect(await anchorChecks(ofFolder(temporaryFolder(), at))).toMatchObject([
      { ok: false, detail: expect.stringContaining('holds no anchor, and the log has some') },
    ]);
    await anchorerOf(at, folder)();
    expect(await anchorChecks(ofFolder(folder, at))).toMatchObject([{ ok: true }]);
  });

  it('finds that the folder holds no file although a sweeper would have written the anchor of the day again', async () => {
    const [at, folder] = [emptyAuditHarness(), temporaryFolder()];
    const checks = (isSwept: boolean) => anchorChecks({ ...ofFolder(folder, at), isSwept });
    await at.issue(1);
    await anchorerOf(at, undefined)();
    expect((await checks(true)).at(-1)).toMatchObject({ ok: true });
    at.clock.pass(7_201);
    const detail = `${folder} holds no anchor, and the log has some`;
    expect((await checks(true)).at(-1)).toMatchObject({ name: 'published anchors', ok: false, detail });
    expect(await checks(false)).toMatchObject([{ ok: true }]);
  });

  it('finds that the log was not anchored for two days, although a sweeper runs', async () => {
    const at = emptyAuditHarness();
    const checks = (isSwept: boolean) => anchorChecks({ ...at, folder: undefined, isSwept });
    await at.issue(1);
    at.clock.pass(86_400);
    expect(await checks(true)).toMatchObject([{ ok: true, detail: 'the log is not anchored yet' }]);
    at.clock.pass(86_401);
    expect(await checks(true)).toMatchObject([{ ok: false, detail: 'the log was not anchored for two days' }]);
    expect(await checks(false)).toEqual([]);
    await at.anchor();
    expect(await checks(true)).toMatchObject([{ ok: true, detail: 'the newest of the log is of 2026-11-23' }]);
    at.clock.pass(3 * 86_400);
    expect(await checks(true)).toMatchObject([{ ok: false }]);
  });
});

it('counts the age of a log from its first event of ours, whatever another program put before that', async () => {
  const at = emptyAuditHarness();
  const { metadata, ...event } = chained('nfseLive-1', 0);
  const { recordedAt: _own, ...foreign } = metadata;
  await at.log.append('nfseLive-1', NONE, [{ ...event, metadata: foreign }]);
  const checks = () => anchorChecks({ ...at, folder: undefined, isSwept: true });
  at.clock.pass(3 * 86_400);
  expect(await checks()).toMatchObject([{ ok: true, detail: 'the log is not anchored yet' }]);
  expect(await anchorAges({ ...at, folder: undefined })).toEqual([{ place: 'log', seconds: 0 }]);
  await at.issue(1);
  at.clock.pass(2 * 86_400 + 1);
  expect(await checks()).toMatchObject([{ ok: false, detail: 'the log was not anchored for two days' }]);
  expect(await anchorAges({ ...at, folder: undefined })).toEqual([{ place: 'log', seconds: 2 * 86_400 + 1 }]);
});

it('says how old the newest anchor is: in the log, and in the folder, which another disk may hold', async () => {
  const [at, folder] = [emptyAuditHarness(), temporaryFolder()];
  const anchorerInto = (into: string | undefined) =>
    createAnchorer({ log: at.log, store: at.store, clock: at.clock, folder: into, actor: 'timer:anchorer' });
  const ages = async (of: string | undefined) =>
    Object.fromEntries((await anchorAges({ ...at, folder: of })).map(({ place, seconds }) => [place, seconds]));
  const sinceMidnight = (Date.parse(at.clock.now()) % 86_400_000) / 1000;
  await at.issue(1);
  at.clock.pass(60);
  expect(await ages(folder)).toEqual({ log: 60, folder: 60 });
  await anchorerInto(folder)();
  expect(await ages(folder)).toEqual({ log: sinceMidnight + 60, folder: sinceMidnight + 60 });
  at.clock.pass(86_400);
  await at.issue(2);
  await anchorerInto(undefined)();
  expect(await ages(folder)).toEqual({ log: sinceMidnight + 60, folder: sinceMidnight + 86_460 });
  expect(await ages(join(folder, 'unmounted'))).toMatchObject({ folder: 86_460 });
  at.clock.pass(5 * 86_400);
  expect(await ages(undefined)).toEqual({ log: 6 * 86_400 + 60 });
});

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
  expect(await anchorChecks(ofFolder(folder, before))).toMatchObject([{ ok: true }]);

  await restored.issue(1);
  for (const _start of [1, 2]) await anchorerOf(restored)();
  const second = expect.stringMatching(/^anchor-2026-11-21_[0-9a-f]{16}\.json$/);
  const said = { day: '2026-11-21', file: 'anchor-2026-11-21.json', second };
  expect(contradicted).toEqual([said, said]);
  expect(await files()).toEqual([published, { name: second, text: expect.any(String) }]);
  const found = [{ kind: 'anchor_mismatch', detail: expect.stringContaining('restored from a backup') }];
  expect(await compareAnchors(await files(), anchorsOfLog(restored.store))).toMatchObject(found);
  expect(await anchorChecks(ofFolder(folder, restored))).toMatchObject([
    { ok: false, detail: expect.stringContaining('anchor-2026-11-21.json was published with another content') },
  ]);

  restored.clock.pass(60);
  const deps = { store: restored.store, clock: restored.clock, actor: 'support:ana' } as const;
  await appendAudit('LogRecovered', { unknownNotes: 0, accessKeys: [] }, deps);
  expect(await compareAnchors(await files(), anchorsOfLog(restored.store))).toMatchObject([
    { detail: expect.stringContaining(`recovered after a restore at ${restored.clock.now()}`) },
  ]);
  expect(await anchorChecks(ofFolder(folder, restored))).toMatchObject([
    { ok: true, detail: `1 anchor in ${folder} as in the log; 1 more are of the log before its recovery` },
  ]);
});
