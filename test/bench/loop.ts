import { existsSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

export type LoopBlocks = {
  /** The longest time that this thread's event loop stood still, in ms. */
  longestMs: number;
  /** The longest that the garbage collector held it, in ms. */
  collectorMs: number;
};

/** Watches the event loop of this thread until the function that it gives back is called. */
export const watchLoop = (): (() => LoopBlocks) => {
  let collectorMs = 0;
  const note = (entries: readonly { duration: number }[]): void => {
    for (const { duration } of entries) collectorMs = Math.max(collectorMs, duration);
  };
  const collector = new PerformanceObserver((list) => note(list.getEntries()));
  collector.observe({ entryTypes: ['gc'] });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  return () => {
    delay.disable();
    note(collector.takeRecords());
    collector.disconnect();
    return { longestMs: delay.max / 1e6, collectorMs };
  };
};

/**
 * The most processor time, in ms, that this thread used between two moments at which its event loop was free: what a machine at
 * other work makes a loop wait is left out. Where the system tells of the process alone, its other threads count too.
 */
export const watchTurns = (): (() => number) => {
  let busiest = 0;
  let last = processorMs();
  const timer = setInterval(() => {
    const now = processorMs();
    busiest = Math.max(busiest, now - last);
    last = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return busiest;
  };
};

/** The first number is nanoseconds on a processor; the main thread has the id of the process. */
const SCHEDULED = `/proc/self/task/${process.pid}/schedstat`;
const tellsThread = existsSync(SCHEDULED);

const processorMs = (): number => {
  if (tellsThread) return Number(readFileSync(SCHEDULED, 'utf8').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Makes and drops small objects in turns of 25 ms, as a thread that draws does, and gives back a number. */
const BUSY_THREAD = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', () => {
    let kept = [];
    for (const end = performance.now() + 25; performance.now() < end; ) {
      kept.push({ text: String(performance.now()) });
      if (kept.length > 20000) kept = [];
    }
    parentPort.postMessage(kept.length);
  });
`;

const WATCHED_MS = 4_000;

/** The same watched beside threads that have nothing to do with documents: what the machine itself makes a loop wait. */
export const loopBesideBusyThreads = async (threads: number): Promise<LoopBlocks> => {
  const workers = Array.from({ length: threads }, () => new Worker(BUSY_THREAD, { eval: true }));
  for (const worker of workers) {
    worker.on('message', () => worker.postMessage('on'));
    worker.postMessage('on');
  }
  try {
    await new Promise((resolve) => setTimeout(resolve, WATCHED_MS / 4));
    const seen = watchLoop();
    await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
    return seen();
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
};
