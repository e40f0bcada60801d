import { parentPort } from 'node:worker_threads';

parentPort?.on('message', ({ asked }) => {
  Atomics.add(asked.tries, 0, 1);
  process.exit(1);
});
