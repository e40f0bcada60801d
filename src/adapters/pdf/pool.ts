import { Worker } from 'node:worker_threads';
import { PdfBusy, PdfFailed } from './errors.js';

export type PoolOptions = {
  /** Module that answers every message with exactly one message. Flags of the process are not passed on. */
  file: URL;
  workers: number;
  /** Jobs that may wait for a thread; one more is refused with `PdfBusy`. */
  waiting: number;
  /** From the moment a thread gets the job; starting the thread counts. */
  timeoutMs: number;
};

export type Pool<Request, Answer> = {
  /** Rejects with `PdfBusy`, or with `PdfFailed` on `timeout`, `worker_lost` and `closed`. */
  run(request: Request): Promise<Answer>;
  close(): Promise<void>;
};

type Job<Request, Answer> = {
  request: Request;
  resolve(answer: Answer): void;
  reject(error: Error): void;
};

/**
 * Threads with one job each. They start when first needed, are replaced when they die or hang, and hold the process
 * open only while they work.
 */
export const createPool = <Request, Answer>(options: PoolOptions): Pool<Request, Answer> => {
  const waiting: Job<Request, Answer>[] = [];
  const idle: Worker[] = [];
  const busy = new Map<Worker, (error: PdfFailed) => void>();
  let closed = false;

  const start = (): Worker => {
    const worker = new Worker(options.file, { execArgv: [] });
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
      job.reject(error);
      next();
    });
    worker.postMessage(job.request);
  };

  const next = () => {
    if (closed || busy.size >= options.workers) return;
    const job = waiting.shift();
    if (job !== undefined) give(idle.pop() ?? start(), job);
  };

  return {
    run: (request) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new PdfFailed('closed'));
        if (busy.size >= options.workers && waiting.length >= options.waiting) return reject(new PdfBusy());
        waiting.push({ request, resolve, reject });
        next();
      }),
    close: async () => {
      closed = true;
      const workers = [...idle, ...busy.keys()];
      for (const job of waiting.splice(0)) job.reject(new PdfFailed('closed'));
      for (const fail of [...busy.values()]) fail(new PdfFailed('closed'));
      idle.length = 0;
      await Promise.all(workers.map((worker) => worker.terminate()));
    },
  };
};
