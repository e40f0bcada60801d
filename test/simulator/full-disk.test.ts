import { type FileHandle, open } from 'node:fs/promises';
import { afterEach, expect, it, vi } from 'vitest';
import {
  codesOf,
  dpsIdOf,
  issue,
  keyOf,
  openSimulatorHarness,
  type SimulatorHarness,
} from '../support/harness/simulator.js';

let harness: SimulatorHarness | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await harness?.close();
});

/** Until `free`, each write leaves a part of its bytes in the file and fails. */
const fillDisk = async (): Promise<{ free(): void }> => {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const disk = vi.spyOn(prototype, 'appendFile').mockImplementation(async function (this: FileHandle, bytes) {
    await this.write(bytes.toString().slice(0, 1_000));
    throw full;
  });
  return { free: () => disk.mockRestore() };
};

it('a full disk is said once, answered with 503, and loses no note that was answered', async () => {
  const warnings: object[] = [];
  const sim = await openSimulatorHarness({ warn: (line) => warnings.push(line) });
  harness = sim;
  const key = keyOf(await issue(sim, { number: 1 }));
  const disk = await fillDisk();
  const failed = await issue(sim, { number: 2 });
  expect([failed.status, failed.contentType, failed.json]).toEqual([503, 'text/html', {}]);
  // What was written is not known, so nothing is claimed of either note.
  for (const number of [1, 2]) {
    expect((await sim.call('GET', `/dps/${dpsIdOf({ number })}`)).status).toBe(503);
    expect((await issue(sim, { number })).status).toBe(503);
  }
  expect((await sim.call('GET', `/dps/${dpsIdOf({ number: 3 })}`)).status).toBe(404);
  expect(warnings).toEqual([{ msg: expect.stringContaining('503'), reason: 'Error', code: 'ENOSPC' }]);
  const calls = (await sim.control('GET', 'calls')).json as { outcome: unknown }[];
  expect(calls.filter(({ outcome }) => outcome === 503)).toHaveLength(5);
  disk.free();
  await sim.restart();
  expect((await sim.call('GET', `/nfse/${key}`)).status).toBe(200);
  expect(codesOf(await issue(sim, { number: 1 }))).toEqual(['E0014']);
});

it('the simulator continues by itself once the full disk is free, and keeps what it authorized meanwhile', async () => {
  const warnings: object[] = [];
  const sim = await openSimulatorHarness({ warn: (line) => warnings.push(line) });
  harness = sim;
  const first = keyOf(await issue(sim, { number: 1 }));
  const disk = await fillDisk();
  for (const number of [2, 3]) expect((await issue(sim, { number })).status).toBe(503);
  disk.free();
  const last = keyOf(await issue(sim, { number: 4 }));
  // As after any answer that was lost: the note is there, and a look-up finds it.
  const meanwhile = await Promise.all(
    [2, 3].map(async (number) => keyOf(await sim.call('GET', `/dps/${dpsIdOf({ number })}`))),
  );
  expect(codesOf(await issue(sim, { number: 2 }))).toEqual(['E0014']);
  expect(warnings).toHaveLength(1);
  const again = await fillDisk();
  expect((await issue(sim, { number: 6 })).status).toBe(503);
  expect(warnings).toHaveLength(2);
  again.free();
  const documents = () =>
    Promise.all([first, ...meanwhile, last].map(async (key) => (await sim.call('GET', `/nfse/${key}`)).json));
  const before = await documents();
  await sim.restart();
  expect((await documents()).map((answer) => answer.nfseXmlGZipB64)).toEqual(
    before.map((answer) => answer.nfseXmlGZipB64),
  );
  expect(new Set(before.map((answer) => answer.nfseXmlGZipB64)).size).toBe(4);
  expect((await issue(sim, { number: 5 })).status).toBe(201);
});
