import { Interrupted } from '../../cli/progress.js';
import { type Client, createClient, type Invoice } from '../../client/client.js';
import { ApiError, NoAnswerError, StillWaitingError } from '../../client/errors.js';
import { pause } from '../../lib/pause.js';

/** Thrown when the demo saw something that the service does not promise; the message is for a person. */
export class DemoFailed extends Error {
  override readonly name = 'DemoFailed';
}

const PATIENCE_MS = 45_000;
const POLL_MS = 50;
/** After five seconds of looks. Two waits of 45 s then make fewer reads than the 300 that a key has in a minute. */
const SLOW_POLL_MS = 1_000;
const QUICK_LOOKS = 100;

/** Throws `Interrupted` once a signal has come. */
const pauseAfter = async (looks: number, interrupted: AbortSignal | undefined): Promise<void> => {
  await pause(looks < QUICK_LOOKS ? POLL_MS : SLOW_POLL_MS, interrupted);
  if (interrupted?.aborted === true) throw new Interrupted();
};

/** Looks until there is something to see. Throws `DemoFailed` with what `missing` says after 45 s, and `Interrupted`. */
export const lookUntil = async <T>(
  look: () => Promise<T | undefined>,
  missing: () => string,
  interrupted: AbortSignal | undefined,
): Promise<T> => {
  const deadline = performance.now() + PATIENCE_MS;
  for (let looks = 0; ; looks += 1) {
    const seen = await look();
    if (seen !== undefined) return seen;
    if (performance.now() > deadline) throw new DemoFailed(`${missing()} after ${PATIENCE_MS / 1000} s`);
    await pauseAfter(looks, interrupted);
  }
};

/** The client of programs of others. At first it looks more often than they may, because a person waits. */
export const createDemoClient = (baseUrl: string, key: string, interrupted: AbortSignal | undefined): Client => {
  let looks = 0;
  const sleep = (): Promise<void> => {
    looks += 1;
    return pauseAfter(looks, interrupted);
  };
  return createClient({ baseUrl, key, sleep });
};

/** The invoice once its outcome is known; throws when it is another one than issued. */
export const untilIssued = async (client: Pick<Client, 'waitForOutcome'>, id: string): Promise<Invoice> => {
  const ended = await client.waitForOutcome(id, { withinMs: PATIENCE_MS });
  if (ended.status !== 'issued')
    throw new DemoFailed(`the invoice ended ${ended.status}: ${ended.error?.message ?? 'no reason given'}`);
  return ended;
};

/** What the client rejected with, as the demo says it. */
export const asDemoFailure = (error: unknown): unknown =>
  error instanceof ApiError || error instanceof NoAnswerError || error instanceof StillWaitingError
    ? new DemoFailed(error.message, { cause: error })
    : error;
