import { availableParallelism } from 'node:os';
import type { Reader, ReadingJob } from '../adapters/authorizer/reading.js';
import { type ReadingAnswer, readInThreads } from '../adapters/authorizer/reading-protocol.js';
import { PdfFailed } from '../adapters/pdf/errors.js';
import { createPool } from '../adapters/pdf/pool.js';
import type { Runner } from './runner.js';

/** A note takes milliseconds; the rest is for starting a thread where every core is busy. */
const READ_WITHIN_MS = 20_000;

/** All answers wait in one line: the issuers bound how many calls are under way. */
const OWNER = 'answers';

/** Several times what the largest document within the bounds takes. */
const HEAP_MB = 128;

/**
 * Reads the authorizer's answers off the event loop that serves clients (ADR 31), in threads of the mechanics that draw documents;
 * they start when first needed and end with the process.
 */
export const openReadingThreads = (
  runner: Pick<Runner, 'onStop'>,
  { file = threadFile(), timeoutMs = READ_WITHIN_MS }: { file?: URL; timeoutMs?: number } = {},
): Reader => {
  const pool = createPool<ReadingJob, ReadingAnswer>({
    file,
    workers: Math.max(1, Math.min(2, availableParallelism() - 1)),
    ...{ waitMs: 2 * READ_WITHIN_MS, timeoutMs, heapMb: HEAP_MB },
  });
  runner.onStop('reading threads', () => pool.close());
  // The pool gives the job of a thread that died to another one by itself; one over which a thread hung is given once more here.
  const again = (job: ReadingJob) => (error: unknown) => {
    if (error instanceof PdfFailed && error.reason === 'timeout') return pool.run(OWNER, job);
    throw error;
  };
  return readInThreads((job) => pool.run(OWNER, job).catch(again(job)));
};

// The service runs from TypeScript in development and from compiled JavaScript once built.
const threadFile = (): URL => {
  const name = import.meta.url.endsWith('.ts') ? 'reading-thread.source.mjs' : 'reading-thread.js';
  return new URL(`../adapters/authorizer/${name}`, import.meta.url);
};
