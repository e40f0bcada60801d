import { eventually } from './running-service.js';

const COMES_AGAIN_FOR_MS = 240_000;

/**
 * As the contract has it for reads: whoever is told 503 comes again. Documents are drawn on a thread that comes after everything
 * else, so on a busy machine one may not be ready in its time.
 */
export const untilServed = (ask: () => Promise<Response>): Promise<Response> =>
  eventually(ask, ({ status }) => status !== 503, COMES_AGAIN_FOR_MS);
