import { parentPort, threadId } from 'node:worker_threads';

// Does what a thread of the pool may do: answer, hang, or die in either way.
parentPort?.on('message', (mood) => {
  if (mood === 'throw') throw new Error('gone');
  if (mood === 'exit') process.exit(3);
  if (mood !== 'hang') parentPort?.postMessage({ mood, threadId });
});
