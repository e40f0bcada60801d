import { Worker } from 'node:worker_threads';
import { TooMuchWaits } from '../../waiting/fair-gate.js';
import { createFairLine } from '../../waiting/fair-line.js';
import { PdfFailed } from './errors.js';

export type PoolOptions = {
  /** Module that answers every message with exactly one message. Flags of the process are not passed on. */
  file: URL;
  workers: number;
  /** How long a job may wait for a thread; then it is refused with `TooMuchWaits`. */
  waitMs: number;
  /** From the moment a thread gets the job; starting the thread counts. */
  timeoutMs: number;
  /** Heap of one thread in MiB; one that needs more dies alone. */
  heapMb: number;
};

export type Pool<Request, Answer> = {
  /** Rejects with `TooMuchWaits`, or with `PdfFailed` on `timeout`, `worker_lost` and `closed`. */
  run(owner: string, request: Request): Promise<Answer>;
  close(): Promise<void>;
};

type Job<Request, Answer> = {
  owner: string;
  request: Request;
  /** Threads that died over it. */
  losses: number;
  /** Ends the wait; undefined once a thread has had it. */
  patience?: NodeJS.Timeout;
  resolve(answer: Answer): void;
  reject(error: Error): void;
};

/** A thread may die of something other than its job, so the job gets one more; a job that kills two is refused. */
const LOSSES_ALLOWED = 1;

/**
 * Threads with one job each, given out in turns by owner. They start when first needed, are replaced when they die or hang, and
 * hold the process open only while they work.
 */
export const createPool = <Request, Answer>(options: PoolOptions): Pool<Request, Answer> => {
  const waiting = createFairLine<Job<Request, Answer>>();
  const idle: Worker[] = [];
  const busy = new Map<Worker, (error: PdfFailed) => void>();
  let closed = false;

  const start = (): Worker => {
    const worker = new Worker(options.file, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb },
    });
    const lost = (cause: unknown) => {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      busy.get(worker)?.(new PdfFailed('worker_lost', cause));
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    return worker;
  };

  const give = (worker: Worker, job: Job<Request, Answer>) => {
    worker.ref();
    clearTimeout(job.patience);
    const timer = setTimeout(() => {
      busy.get(worker)?.(new PdfFailed('timeout'));
    }, options.timeoutMs);
    const settle = () => {
      clearTimeout(timer);
      worker.off('message', answered);
      busy.delete(worker);
    };
    const answered = (answer: Answer) => {
      settle();
      worker.unref();
      if (!closed) idle.push(worker);
      job.resolve(answer);
      next();
    };
    worker.on('message', answered);
    busy.set(worker, (error) => {
      settle();
      // A thread that hangs or is dying is worth nothing any more; the next job gets a new one.
      void worker.terminate();
      if (error.reason === 'worker_lost' && job.losses < LOSSES_ALLOWED)
        waiting.pushFirst(job.owner, { ...job, losses: job.losses + 1 });
      else job.reject(error);
      next();
    });
    worker.postMessage(job.request);
  };

  const next = () => {
    if (closed || busy.size >= options.workers) return;
    const turn = waiting.next();
    if (turn !== undefined) give(idle.pop() ?? start(), turn.item);
  };

  /** A job in line, which leaves it by itself when its time is over. */
  const enqueue = (job: Job<Request, Answer>) => {
    waiting.push(job.owner, job);
    job.patience = setTimeout(() => {
      waiting.remove(job.owner, job);
      job.reject(new TooMuchWaits('documents to be drawn'));
    }, options.waitMs);
    next();
  };

  return {
    run: (owner, request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new PdfFailed('closed'));
        enqueue({ owner, request, losses: 0, resolve, reject });
      }),
    close: async () => {
      closed = true;
      const workers = [...idle, ...busy.keys()];
      for (const job of waiting.takeAll()) {
        clearTimeout(job.patience);
        job.reject(new PdfFailed('closed'));
      }
      for (const fail of [...busy.values()]) fail(new PdfFailed('closed'));
      idle.length = 0;
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
};
