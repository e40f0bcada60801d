import { parentPort } from 'node:worker_threads';
import { answerOf, type ReadingAnswer } from './reading-protocol.js';

/** Entry of the thread that reads what the authorizer answered: unpacking, parsing and checking take milliseconds. */
parentPort?.on('message', (job: unknown) => {
  const answer: ReadingAnswer = answerOf(job);
  parentPort?.postMessage(answer);
  // A fault that nobody foresaw may have left the parser's memory in any state: the next answer gets another thread.
  if (!answer.ok) parentPort?.close();
});
