import type { RequestSummary } from '../../http/deps.js';
import { type Logger, requestFields } from './logger.js';

/** Nothing paces refusals that the app never sees, but that each ends its connection. */
const MOST_PER_MINUTE = 600;
const MINUTE_MS = 60_000;

/** Logs the requests that the HTTP server refused before the app: of a flood the first of each minute, and then the number of the others. */
export const refusalLines = (
  logger: Pick<Logger, 'info' | 'warn'>,
  nowMs = (): number => performance.now(),
): ((summary: RequestSummary) => void) => {
  let since = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let unlogged = 0;
  return (summary) => {
    const now = nowMs();
    if (now - since >= MINUTE_MS) {
      if (unlogged > 0) logger.warn({ msg: 'more requests were refused unread than are logged in a minute', unlogged });
      since = now;
      logged = 0;
      unlogged = 0;
    }
    if (logged === MOST_PER_MINUTE) {
      unlogged += 1;
      return;
    }
    logged += 1;
    logger.info({ msg: 'request', ...requestFields(summary) });
  };
};
