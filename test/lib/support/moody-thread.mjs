import { parentPort, threadId } from 'node:worker_threads';

// Does what a thread of the pool may do: answer, hang, die in either way, die or hang only the first time it is asked, or wait until it is told.
parentPort?.on('message', (request) => {
  const { mood, deaths } = typeof request === 'string' ? { mood: request } : request;
  if (mood === 'throw') throw new Error('gone');
  if (mood === 'exit') process.exit(3);
  if (mood === 'die once' && Atomics.add(deaths, 0, 1) === 0) process.exit(3);
  if (mood === 'hang once' && Atomics.add(deaths, 0, 1) === 0) return;
  if (mood === 'wait') Atomics.wait(deaths, 0, 0);
  if (mood === 'count') Atomics.add(deaths, 0, 1);
  if (mood === 'hoard') hoard();
  if (mood !== 'hang') parentPort?.postMessage({ mood, threadId });
});

const hoard = () => {
  const kept = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
};
