import type { HttpDeps, RequestSummary } from './deps.js';

/** The route in the summary of a request that no route took. */
export const UNMATCHED = 'unmatched';

/** Hands a summary over. A summary that cannot be reported must not change the answer to work that was done. */
export const report = (
  { onRequest, onFault }: Pick<HttpDeps, 'onRequest' | 'onFault'>,
  summary: RequestSummary,
): void => {
  try {
    onRequest?.(summary);
  } catch (error) {
    onFault?.(error, summary.requestId);
  }
};
