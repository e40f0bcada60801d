import { availableParallelism, totalmem } from 'node:os';

/** What this process may use. `cores`: as its affinity says. `memoryMb`: MiB of the machine, or of its container where that has a limit. */
export type Machine = { cores: number; memoryMb: number };

export const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  memoryMb: Math.floor(memoryBytes(totalmem(), process.constrainedMemory()) / 1_048_576),
});

/** Without a limit the system answers 0, or a number far above the memory of the machine. */
export const memoryBytes = (total: number, limit: number): number => (limit > 0 ? Math.min(total, limit) : total);

/** Threads of a pool, and the heap of each in MiB. */
type PoolSize = { workers: number; heapMb: number };

/** Below this a thread more would take memory that PostgreSQL and the service need. */
const SMALL_MB = 1_024;

/** One core is left to the rest of the service, and a quarter of the memory is for the heaps of these threads. */
const poolSize = ({ cores, memoryMb }: Machine, most: number, heapMb: number): PoolSize => {
  const byMemory = Math.floor(memoryMb / 4 / heapMb);
  return {
    workers: Math.max(1, Math.min(most, cores - 1, byMemory)),
    heapMb: memoryMb < SMALL_MB ? heapMb / 2 : heapMb,
  };
};

/** Threads that draw PDFs: their heap is several times what the largest note takes. */
export const pdfThreads = (machine: Machine): PoolSize => poolSize(machine, 4, 256);

/** Threads that read the authorizer's answers: their heap is several times what the largest accepted document needs. */
export const readingThreads = (machine: Machine): PoolSize => poolSize(machine, 2, 128);

/** Threads that examine pages of the log for `nfse audit verify`; none where they would only take turns with the main thread. */
export const examiningThreads = ({ cores, memoryMb }: Machine): number =>
  memoryMb < SMALL_MB ? 0 : Math.min(3, cores - 1);
