import { Worker } from 'node:worker_threads';
import { createFairQueue, createPresence, type Presence, restMs, TooManyWaiting } from './fair-semaphore.js';

/**
 * `timeout`: the job took too long in a second thread too. `worker_lost`: a second thread died during the job. `unsendable`: its request cannot be
 * copied to a thread. `closed`: the pool was closed.
 */
export type JobFailure = 'timeout' | 'worker_lost' | 'unsendable' | 'closed';

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
  /** Longest time of a job in each of its threads. */
  timeoutMs: number;
  /** Longest start of a thread, beside `timeoutMs`; default 60 s. On a machine that starves, a shorter one replaces threads again and again. */
  startMs?: number | undefined;
  /** A thread that is busy for longer does not count, so that others' jobs go on; default 3 s. At most `workers` threads are so late. */
  patienceMs?: number;
  /** Heap of one thread in MiB. A thread that needs more dies without the process. */
  heapMb: number;
  /** Beside the heap, for young objects, in MiB; the default of Node is 48. */
  youngMb?: number | undefined;
  /** Owners that use the same engines: while others are present, one that floods rests as in a fair semaphore. Default: none is present. */
  presence?: Presence | undefined;
};

export type ThreadPool<Request, Answer> = {
  /** Rejects with `TooManyWaiting` or `JobFailed`. */
  run(owner: string, request: Request): Promise<Answer>;
  /** Starts the threads that the pool still lacks, one after another, each with this request. Resolves also when that fails. */
  warm(request: Request): Promise<void>;
  close(): Promise<void>;
};

type Job<Request, Answer> = {
  owner: string;
  request: Request;
  /** Threads that died or hung during this job. */
  lostThreads: number;
  /** Ends the wait for a thread; cleared when a thread takes the job. */
  waitTimer?: NodeJS.Timeout;
  resolve(answer: Answer): void;
  reject(error: Error): void;
};

/** A thread may die or hang for a reason other than its job, so the job gets a second thread. A job that loses two is refused. */
const LOST_THREADS_ALLOWED = 1;

/** Far more than a job takes, and about what the start of a thread takes on a busy machine. */
const PATIENCE_MS = 3_000;

/** Beside a dozen busy processes on two slow cores a start took more than 15 s. */
const START_MS = 60_000;

/** Threads with one job each (ADR 37), for owners who take turns. They start when needed, and keep the process alive only while they work. */
export const createThreadPool = <Request, Answer>(options: ThreadPoolOptions): ThreadPool<Request, Answer> => {
  const { presence: sharedPresence } = options;
  const jobsPresence = createPresence();
  const waiting = createFairQueue<Job<Request, Answer>>();
  const idle: Worker[] = [];
  const busy = new Map<Worker, { owner: string; fail(error: JobFailed): void }>();
  const resting = new Set<string>();
  const late = new Set<Worker>();
  const started = new WeakSet<Worker>();
  let closed = false;

  const start = (): Worker => {
    const worker = new Worker(options.file, {
      execArgv: [],
      resourceLimits: {
        maxOldGenerationSizeMb: options.heapMb,
        ...(options.youngMb === undefined ? {} : { maxYoungGenerationSizeMb: options.youngMb }),
      },
    });
    const lost = (cause: unknown) => {
      const at = idle.indexOf(worker);
      if (at >= 0) idle.splice(at, 1);
      busy.get(worker)?.fail(new JobFailed('worker_lost', cause));
    };
    worker.on('error', lost);
    worker.on('exit', lost);
    return worker;
  };

  const assign = (worker: Worker, job: Job<Request, Answer>) => {
    worker.ref();
    clearTimeout(job.waitTimer);
    const begunMs = performance.now();
    const startMs = started.has(worker) ? 0 : (options.startMs ?? START_MS);
    const timer = setTimeout(() => {
      busy.get(worker)?.fail(new JobFailed('timeout'));
    }, startMs + options.timeoutMs);
    const patience = setTimeout(() => {
      if (late.size >= options.workers) return;
      late.add(worker);
      next();
    }, options.patienceMs ?? PATIENCE_MS);
    const settle = () => {
      clearTimeout(timer);
      clearTimeout(patience);
      worker.off('message', answered);
      busy.delete(worker);
      late.delete(worker);
    };
    const release = () => {
      settle();
      worker.unref();
      if (!closed && threads() < options.workers) idle.push(worker);
      else void worker.terminate();
    };
    const answered = (answer: Answer) => {
      started.add(worker);
      release();
      job.resolve(answer);
      if (sharedPresence !== undefined)
        rest(job.owner, restMs(performance.now() - begunMs, waiting.waitingOf(job.owner), sharedPresence));
      next();
    };
    worker.on('message', answered);
    const fail = (error: JobFailed) => {
      settle();
      // A thread that hangs or dies is not used again; the next job gets a new one.
      void worker.terminate();
      const again = { ...job, lostThreads: job.lostThreads + 1 };
      if (error.reason === 'closed' || again.lostThreads > LOST_THREADS_ALLOWED) job.reject(error);
      else if (error.reason === 'worker_lost') waiting.pushFirst(job.owner, again);
      // It may hang again, so it goes behind those that waited for it.
      else waiting.push(job.owner, again);
      next();
    };
    busy.set(worker, { owner: job.owner, fail });
    try {
      worker.postMessage(job.request);
    } catch (error) {
      // The request cannot be copied to a thread, for example because it nests too deep. No other thread would get it.
      release();
      job.reject(new JobFailed('unsendable', error));
    }
  };

  const rest = (owner: string, milliseconds: number) => {
    if (milliseconds === 0) return;
    resting.add(owner);
    const ended = () => {
      resting.delete(owner);
      next();
    };
    setTimeout(ended, milliseconds);
  };
  const threadsOf = (owner: string): number =>
    [...busy].filter(([worker, job]) => job.owner === owner && !late.has(worker)).length;
  const mayStart = (owner: string): boolean =>
    !resting.has(owner) && (jobsPresence.isAlone() || threadsOf(owner) < Math.max(1, options.workers - 1));

  /** Starts all that may start: an owner that was held back may have left more than one thread free. */
  const next = () => {
    while (!closed && busy.size - late.size < options.workers) {
      const turn = waiting.next(mayStart);
      if (turn === undefined) return;
      assign(idle.pop() ?? start(), turn.item);
    }
  };

  const threads = (): number => idle.length + busy.size;

  /** Does the request in a new thread, once; tells whether it was done. */
  const begin = (request: Request): Promise<boolean> =>
    new Promise((resolve) => {
      const ended = { resolve: () => resolve(true), reject: () => resolve(false) };
      assign(start(), { owner: '', request, lostThreads: LOST_THREADS_ALLOWED, ...ended });
    });

  const enqueue = (job: Job<Request, Answer>) => {
    waiting.push(job.owner, job);
    job.waitTimer = setTimeout(() => {
      waiting.remove(job.owner, job);
      job.reject(new TooManyWaiting(options.what, 'all'));
    }, options.waitMs);
    next();
  };

  return {
    run: (owner, request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new JobFailed('closed'));
        jobsPresence.see(owner);
        enqueue({ owner, request, lostThreads: 0, resolve, reject });
      }),
    warm: async (request) => {
      while (!closed && threads() < options.workers) if (!(await begin(request))) return;
    },
    close: async () => {
      closed = true;
      const workers = [...idle, ...busy.keys()];
      for (const job of waiting.takeAll()) {
        clearTimeout(job.waitTimer);
        job.reject(new JobFailed('closed'));
      }
      for (const { fail } of [...busy.values()]) fail(new JobFailed('closed'));
      idle.length = 0;
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
};
