import { availableParallelism, totalmem } from 'node:os';

/** What this process may use. `cores`: as its affinity says. `memoryMb`: MiB of the machine, or of its container where that has a limit. */
export type Machine = { cores: number; memoryMb: number };

export const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  memoryMb: Math.floor(memoryBytes(totalmem(), process.constrainedMemory()) / 1_048_576),
});

/** Without a limit the system answers 0, or a number far above the memory of the machine. */
export const memoryBytes = (total: number, limit: number): number => (limit > 0 ? Math.min(total, limit) : total);

/** Threads of a pool. `heapMb`: MiB for the heap of one thread. `youngMb`: MiB for young objects beside that heap; default: Node's. */
type PoolSize = { workers: number; heapMb: number; youngMb?: number };

/** MiB. On a smaller machine another thread would take memory that PostgreSQL and the service need. */
const SMALL_MB = 1_024;

/** MiB: the least heap of a thread, and the heap beyond which more does not help. */
type Heap = { leastMb: number; mostMb: number };

/** One core is left to the rest of the service, and a quarter of the memory is for the heaps of these threads. */
const poolSize = ({ cores, memoryMb }: Machine, most: number, { leastMb, mostMb }: Heap): PoolSize => {
  const forAllMb = memoryMb / 4;
  const workers = Math.max(1, Math.min(most, cores - 1, Math.floor(forAllMb / leastMb)));
  const shareMb = Math.max(leastMb, Math.min(mostMb, Math.floor(forAllMb / workers)));
  return { workers, heapMb: memoryMb < SMALL_MB ? leastMb / 2 : shareMb };
};

/** Threads that draw PDFs, each with several times the heap that the largest note takes. More room for young objects saves a fifth of the time. */
export const pdfThreads = (machine: Machine): PoolSize => {
  const size = poolSize(machine, 4, { leastMb: 256, mostMb: 1_024 });
  return machine.memoryMb < 2 * SMALL_MB ? size : { ...size, youngMb: 96 };
};

/** Threads that read the authorizer's answers: their heap is several times what the largest accepted document needs. */
export const readingThreads = (machine: Machine): PoolSize => poolSize(machine, 2, { leastMb: 128, mostMb: 128 });

/** Threads that examine pages of the log for `nfse audit verify`; none where they would only take turns with the main thread. */
export const examiningThreads = ({ cores, memoryMb }: Machine): number =>
  memoryMb < SMALL_MB ? 0 : Math.min(3, cores - 1);
