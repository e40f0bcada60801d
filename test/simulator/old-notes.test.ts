import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addSeconds, brasiliaStamp, type Instant } from '../../src/domain/common/time.js';
import { type Ledger, type Note, openLedger } from '../../src/simulator/state/ledger.js';
import {
  COMPANY,
  codesOf,
  dpsIdOf,
  issue,
  keyOf,
  openSimulatorHarness,
  type SimulatorHarness,
} from '../support/harness/simulator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DAY = 86_400;
const T0: Instant = '2026-11-01T12:00:00.000Z';
const LIVE = { tpAmb: '1' };

const noteAt = (index: number, authorizedAt: Instant, cnpj = COMPANY): Note => ({
  accessKey: String(index).padStart(50, '3'),
  dpsId: `DPS${index}`,
  cnpj,
  number: index,
  municipality: '3304557',
  amountInCents: 100,
  authorizedAt,
});

describe('the ledger of the test environment', () => {
  const path = join(temporaryFolder(), 'ledger-test.ndjson');
  let now = T0;
  let ledger: Ledger | undefined;
  const open = async (keeps = true): Promise<Ledger> => {
    await ledger?.close();
    ledger = await openLedger(path, () => (keeps ? addSeconds(now, -8 * DAY) : undefined));
    return ledger;
  };
  beforeEach(async () => {
    await writeFile(path, '');
    now = T0;
    const opened = await open(false);
    for (const index of [1, 2, 3]) opened.addNote(noteAt(index, T0), `old${index}`);
    opened.addEvent({ accessKey: noteAt(2, T0).accessKey, type: 'e101101', sequence: 1, registeredAt: T0 }, 'event2');
    opened.addNote(noteAt(9, T0, '98765432000198'), 'old9');
    opened.addNote(noteAt(4, addSeconds(T0, 5 * DAY)), 'young4');
    await opened.durable();
  });
  afterEach(async () => {
    await ledger?.close();
    ledger = undefined;
  });

  it('drops notes and their events after their life, at the start, and goes on with their numbers', async () => {
    const before = await readFile(path, 'utf8');
    now = addSeconds(T0, 9 * DAY);
    let opened = await open();
    for (let start = 0; start < 3; start += 1) {
      expect([...opened.notes()].map(({ dpsId }) => dpsId)).toEqual(['DPS4']);
      expect([opened.noteByDps('DPS1'), opened.noteByKey(noteAt(2, T0).accessKey)]).toEqual([undefined, undefined]);
      expect(opened.events(noteAt(2, T0).accessKey)).toEqual([]);
      expect(await opened.noteDocument(noteAt(4, T0).accessKey)).toBe('young4');
      expect([opened.nextNumber(COMPANY), opened.nextNumber('98765432000198'), opened.nextDocument()]).toEqual([
        5, 10, 6,
      ]);
      opened = await open();
    }
    const young = { nsu: 6, note: noteAt(4, addSeconds(T0, 5 * DAY)) };
    expect([...opened.registeredAfter(0, () => true)]).toEqual([young]);
    const after = await readFile(path, 'utf8');
    expect(after).not.toContain('old');
    expect(after.split('\n').slice(1)).toEqual(before.split('\n').slice(5));
    opened.addNote(noteAt(5, now), 'new5');
    await opened.durable();
    now = addSeconds(now, 9 * DAY);
    const last = await open();
    expect([last.nextNumber(COMPANY), last.nextNumber('98765432000198'), last.nextDocument()]).toEqual([6, 10, 7]);
    expect((await readFile(path, 'utf8')).trimEnd().split('\n')).toHaveLength(1);
  });

  it('drops them from memory while it runs, and the file is as it was until the next start', async () => {
    const opened = await open();
    now = addSeconds(T0, 9 * DAY);
    opened.addNote(noteAt(5, now), 'new5');
    await opened.durable();
    expect([...opened.notes()].map(({ dpsId }) => dpsId)).toEqual(['DPS4', 'DPS5']);
    expect(opened.event(noteAt(2, T0).accessKey, 'e101101')).toBeUndefined();
    expect([opened.nextNumber(COMPANY), opened.nextDocument()]).toEqual([6, 7]);
    expect(await opened.noteDocument(noteAt(5, T0).accessKey)).toBe('new5');
    expect(await readFile(path, 'utf8')).toContain('old1');
  });

  it('is the old one after a crash amid the rewriting, and whole after the next start', async () => {
    // What a process that died before the rename leaves.
    await writeFile(`${path}.new`, '{"kind":"numbers","half');
    now = addSeconds(T0, 9 * DAY);
    const opened = await open();
    expect([...opened.notes()].map(({ dpsId }) => dpsId)).toEqual(['DPS4']);
    expect((await readdir(join(path, '..'))).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('keeps everything where nothing is over, byte by byte, and permanently where nothing is dropped', async () => {
    const before = await readFile(path);
    now = addSeconds(T0, 8 * DAY);
    await open();
    expect(await readFile(path)).toEqual(before);
    now = addSeconds(T0, 3650 * DAY);
    const opened = await open(false);
    expect([...opened.notes()]).toHaveLength(5);
    expect(await readFile(path)).toEqual(before);
  });

  it('refuses a rewritten file whose numbers were altered', async () => {
    now = addSeconds(T0, 9 * DAY);
    await open();
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"documents":4', '"documents":3'));
    await expect(open()).rejects.toThrow('damaged at byte 0');
  });
});

describe('a simulator that is started again after nine days', () => {
  let harness: SimulatorHarness;
  beforeEach(async () => {
    harness = await openSimulatorHarness();
  });
  afterEach(() => harness.close());

  it('has forgotten the notes of test mode, none of production, and no number', async () => {
    const first = { test: await issue(harness), live: await issue(harness, LIVE, { mode: 'live' }) };
    harness.clock.at = addSeconds(harness.clock.now(), 9 * DAY);
    await harness.restart();
    expect((await harness.call('GET', `/dps/${dpsIdOf({})}`)).status).toBe(404);
    expect(codesOf(await issue(harness, LIVE, { mode: 'live' }))).toEqual(['E0014']);
    expect(keyOf(first.live)).not.toBe('');
    const next = await issue(harness, { number: 2 });
    expect(keyOf(next).slice(23, 36)).toBe('0000000000002');
    expect(codesOf(await issue(harness, { number: 2 }))).toEqual(['E0014']);
  });
});

describe('a simulator whose clock is moved', () => {
  let harness: SimulatorHarness;
  beforeEach(async () => {
    harness = await openSimulatorHarness();
  });
  afterEach(() => harness.close());

  const move = (days: number) => harness.control('POST', 'clock', { offset_s: days * DAY });

  it.each([
    ['9 days back', -9, -9],
    ['11 days forward after a note', 0, 11],
  ])('%s keeps the notes that it makes', async (_name, before, after) => {
    const early = { dhEmi: brasiliaStamp(addSeconds(harness.clock.now(), -20 * DAY)), dCompet: '2026-01-01' };
    await move(before);
    const first = await issue(harness, { ...early, number: 1 });
    await move(after);
    expect((await issue(harness, { ...early, number: 2 })).status).toBe(201);
    expect((await harness.call('GET', `/dps/${dpsIdOf({ number: 1 })}`)).status).toBe(200);
    expect((await harness.call('GET', `/nfse/${keyOf(first)}`)).status).toBe(200);
    expect(codesOf(await issue(harness, { ...early, number: 1 }))).toEqual(['E0014']);
  });
});
