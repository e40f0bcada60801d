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
 * The most processor time, in ms, that this process used between two moments at which its event loop was free. It counts all
 * threads, so that a collector at work makes it more than a block, and a machine at other work makes it no less of one.
 */
export const watchTurns = (): (() => number) => {
  let busiest = 0;
  let last = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(last);
    busiest = Math.max(busiest, (user + system) / 1_000);
    last = process.cpuUsage();
  }, 1);
  return () => {
    clearInterval(timer);
    return busiest;
  };
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
