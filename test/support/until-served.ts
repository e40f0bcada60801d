import { eventually } from './eventually.js';

const COMES_AGAIN_FOR_MS = 240_000;

/**
 * Repeats a read after a 503, as the contract says. Documents are rendered on a thread that comes after everything
 * else, so on a busy machine one may not be ready in its time.
 */
export const untilServed = (ask: () => Promise<Response>): Promise<Response> =>
  eventually(ask, ({ status }) => status !== 503, COMES_AGAIN_FOR_MS);
