import { Worker } from 'node:worker_threads';
import { createFairQueue, TooManyWaiting } from './fair-semaphore.js';

/** `timeout`: the job took too long. `worker_lost`: two threads died during the job. `closed`: the pool was closed. */
export type JobFailure = 'timeout' | 'worker_lost' | 'closed';

/** A thread did not finish its job. The message never quotes the job; `cause` says why a thread died. */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';

  constructor(
    readonly reason: JobFailure,
    cause?: unknown,
  ) {
    super(`a thread did not finish its job: ${reason}`, { cause });
  }
}

export type ThreadPoolOptions = {
  /** Names the jobs in the message of `TooManyWaiting`. */
  what: string;
  /** Module that answers every message with exactly one message. It does not get the flags of the process. */
  file: URL;
  workers: number;
  /** Longest wait for a thread; a job that waits longer is refused with `TooManyWaiting`. */
  waitMs: number;
  /** Longest time of a job in its thread, the start of the thread included. */
  timeoutMs: number;
  /** Heap of one thread in MiB. A thread that needs more dies without the process. */
  heapMb: number;
};

export type ThreadPool<Request, Answer> = {
  /** Rejects with `TooManyWaiting` or `JobFailed`. */
  run(owner: string, request: Request): Promise<Answer>;
  close(): Promise<void>;
};

type Job<Request, Answer> = {
  owner: string;
  request: Request;
  /** Threads that died during this job. */
  lostThreads: number;
  /** Ends the wait for a thread; cleared when a thread takes the job. */
  waitTimer?: NodeJS.Timeout;
  resolve(answer: Answer): void;
  reject(error: Error): void;
};

/** A thread may die for a reason other than its job, so the job gets a second thread. A job that loses two is refused. */
const LOST_THREADS_ALLOWED = 1;

/**
 * Threads with one job each; owners take turns (ADR 37 says why this is not a library). Threads start when first needed, are replaced when they die or hang, and keep the process alive
 * only while they work.
 */
export const createThreadPool = <Request, Answer>(options: ThreadPoolOptions): ThreadPool<Request, Answer> => {
  const waiting = createFairQueue<Job<Request, Answer>>();
  const idle: Worker[] = [];
  const busy = new Map<Worker, (error: JobFailed) => void>();
  let closed = false;

  const start = (): Worker => {
    const worker = new Worker(options.file, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb },
    });
    const lost = (cause: unknown) => {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      busy.get(worker)?.(new JobFailed('worker_lost', cause));
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    return worker;
  };

  const assign = (worker: Worker, job: Job<Request, Answer>) => {
    worker.ref();
    clearTimeout(job.waitTimer);
    const timer = setTimeout(() => {
      busy.get(worker)?.(new JobFailed('timeout'));
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
      // A thread that hangs or dies is not used again; the next job gets a new one.
      void worker.terminate();
      if (error.reason === 'worker_lost' && job.lostThreads < LOST_THREADS_ALLOWED)
        waiting.pushFirst(job.owner, { ...job, lostThreads: job.lostThreads + 1 });
      else job.reject(error);
      next();
    });
    worker.postMessage(job.request);
  };

  const next = () => {
    if (closed || busy.size >= options.workers) return;
    const turn = waiting.next();
    if (turn !== undefined) assign(idle.pop() ?? start(), turn.item);
  };

  /** Puts a job in line; after `waitMs` the job leaves it and is refused. */
  const enqueue = (job: Job<Request, Answer>) => {
    waiting.push(job.owner, job);
    job.waitTimer = setTimeout(() => {
      waiting.remove(job.owner, job);
      job.reject(new TooManyWaiting(options.what));
    }, options.waitMs);
    next();
  };

  return {
    run: (owner, request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new JobFailed('closed'));
        enqueue({ owner, request, lostThreads: 0, resolve, reject });
      }),
    close: async () => {
      closed = true;
      const workers = [...idle, ...busy.keys()];
      for (const job of waiting.takeAll()) {
        clearTimeout(job.waitTimer);
        job.reject(new JobFailed('closed'));
      }
      for (const fail of [...busy.values()]) fail(new JobFailed('closed'));
      idle.length = 0;
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
};
