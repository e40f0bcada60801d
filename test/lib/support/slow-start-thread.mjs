import { parentPort, threadId } from 'node:worker_threads';

// Longer than the time limit of a job in the test: on a machine that starves, loading the modules takes as long.
const STARTS_FOR_MS = 1_500;
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STARTS_FOR_MS);

parentPort?.on('message', (mood) => parentPort?.postMessage({ mood, threadId }));
