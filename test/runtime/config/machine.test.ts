import { expect, it } from 'vitest';
import {
  examiningThreads,
  type Machine,
  memoryBytes,
  pdfThreads,
  readingThreads,
  thisMachine,
} from '../../../src/runtime/config/machine.js';

const sizesOf = (cores: number, memoryMb: number) => {
  const machine: Machine = { cores, memoryMb };
  const [pdf, reading] = [pdfThreads(machine), readingThreads(machine)];
  return [pdf.workers, pdf.heapMb, pdf.youngMb, reading.workers, reading.heapMb, examiningThreads(machine)];
};

it.each([
  [1, 512, [1, 128, undefined, 1, 64, 0]],
  [8, 512, [1, 128, undefined, 1, 64, 0]],
  [1, 24_000, [1, 1_024, 96, 1, 128, 0]],
  [2, 1_024, [1, 256, undefined, 1, 128, 1]],
  [2, 24_000, [1, 1_024, 96, 1, 128, 1]],
  [4, 2_048, [2, 256, 96, 2, 128, 3]],
  [2, 2_500, [1, 625, 96, 1, 128, 1]],
  [8, 24_000, [4, 1_024, 96, 2, 128, 3]],
])('on %i cores with %i MiB the pools have threads and heaps of %j', (cores, memoryMb, expected) => {
  expect(sizesOf(cores, memoryMb)).toEqual(expected);
});

it('counts the memory of a container, and without a limit that of the machine', () => {
  expect(memoryBytes(1_000, 0)).toBe(1_000);
  expect(memoryBytes(1_000, 2 ** 63)).toBe(1_000);
  expect(memoryBytes(1_000, 400)).toBe(400);
});

it('knows this machine', () => {
  const { cores, memoryMb } = thisMachine();
  expect(cores).toBeGreaterThanOrEqual(1);
  expect(memoryMb).toBeGreaterThan(100);
});
