import type { GuardsStanding } from '../workers/guards-keeper.js';

export type GuardsKeeping = {
  standing(): GuardsStanding;
  /**
   * Runs work of this process that appends to the log: once it is known that nothing speaks against it, and anew after each
   * pause. The work ends when its signal aborts.
   */
  whileLogStands(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /**
   * Runs what follows the log from a place that R holds, in the same way: a subscription to a log that ends before its place
   * would wait there for ever.
   */
  whileLogReaches(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void>;
};

/**
 * The last standing and what may run under it. A loss of R pauses no work: it stops by itself where it needs R, and what
 * it appends is decided by the log.
 */
export const createGuardsStanding = (): GuardsKeeping & {
  /** True when it is of another kind than the last one. */
  set(standing: GuardsStanding): boolean;
} => {
  let last: GuardsStanding = { kind: 'unknown' };
  /** Lives as long as work may go on; none while it may not. */
  let period: AbortController | undefined;
  const waiting = new Set<() => void>();

  const turn = (mayWork: boolean): void => {
    if (mayWork === (period !== undefined)) return;
    period?.abort();
    period = mayWork ? new AbortController() : undefined;
    if (mayWork) for (const wake of [...waiting]) wake();
  };

  const nextPeriod = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });

  const inPeriods: GuardsKeeping['whileLogStands'] = async (signal, work) => {
    while (!signal.aborted) {
      if (period === undefined) await nextPeriod(signal);
      else await work(AbortSignal.any([signal, period.signal]));
    }
  };

  return {
    standing: () => last,
    set: (standing) => {
      const isNews = standing.kind !== last.kind;
      last = standing;
      if (standing.kind !== 'unknown') turn(standing.kind !== 'log set back');
      return isNews;
    },
    whileLogStands: inPeriods,
    whileLogReaches: inPeriods,
  };
};
