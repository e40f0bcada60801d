import { parentPort } from 'node:worker_threads';
import { answerOf, type ReadingAnswer } from './reading.js';

/** Entry of the thread that reads the authorizer's answers: unpacking, parsing and checking an answer takes milliseconds (ADR 31). */
parentPort?.on('message', (job: unknown) => {
  const answer: ReadingAnswer = answerOf(job);
  parentPort?.postMessage(answer);
  // An unforeseen fault may have left the parser's memory in any state, so the next answer gets another thread.
  if (!answer.ok) parentPort?.close();
});
