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

const fillDisk = async () => {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  return vi.spyOn(prototype, 'appendFile').mockRejectedValueOnce(full);
};

it('a full disk is said once, answered with 503, and loses no note that was answered', async () => {
  const warnings: object[] = [];
  const sim = await openSimulatorHarness({ warn: (line) => warnings.push(line) });
  harness = sim;
  const key = keyOf(await issue(sim, { number: 1 }));
  const disk = await fillDisk();
  const failed = await issue(sim, { number: 2 });
  expect([failed.status, failed.contentType, failed.json]).toEqual([503, 'text/html', {}]);
  expect(disk).toHaveBeenCalledTimes(1);
  // What was written is not known, so nothing is claimed of either note.
  for (const number of [1, 2]) {
    expect((await sim.call('GET', `/dps/${dpsIdOf({ number })}`)).status).toBe(503);
    expect((await issue(sim, { number })).status).toBe(503);
  }
  expect((await sim.call('GET', `/dps/${dpsIdOf({ number: 3 })}`)).status).toBe(404);
  expect(warnings).toEqual([{ msg: expect.stringContaining('503'), reason: 'Error', code: 'ENOSPC' }]);
  const calls = (await sim.control('GET', 'calls')).json as { outcome: unknown }[];
  expect(calls.filter(({ outcome }) => outcome === 503)).toHaveLength(5);
  await sim.restart();
  expect((await sim.call('GET', `/nfse/${key}`)).status).toBe(200);
  expect(codesOf(await issue(sim, { number: 1 }))).toEqual(['E0014']);
  expect((await issue(sim, { number: 2 })).status).toBe(201);
});
