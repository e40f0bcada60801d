/** The spec's windows and the protocol's counts, all in seconds; one value of this type is made from the configuration. */
export type Limits = {
  /** Queued without an attempt, then `failed` (spec "Limits"). */
  queuedSeconds: number;
  /** Processing without a signal, then `indeterminate`. */
  processingSeconds: number;
  /** A pending cancellation without confirmation, then `failed`. */
  cancellationSeconds: number;
  /** A test invoice's life. */
  testRetentionSeconds: number;
  /** How long one send may take; nobody sends an attempt after it. */
  sendSeconds: number;
  /** Pauses before the look-ups, in order; the last one repeats. Never empty. */
  lookupIntervalsSeconds: readonly number[];
};

/** Attempts whose bytes left; not-sent ones do not count (design section 6, 6). */
export const MAX_SENDS = 5;

/** Pause before look-up `n` (0 the first). */
export const lookupPauseSeconds = (limits: Pick<Limits, 'lookupIntervalsSeconds'>, n: number): number =>
  limits.lookupIntervalsSeconds[Math.min(n, limits.lookupIntervalsSeconds.length - 1)] ?? 0;

/** Two proofs of absence count only when at least this far apart (design section 6, 5). */
export const absenceGapSeconds = (limits: Pick<Limits, 'lookupIntervalsSeconds'>): number =>
  lookupPauseSeconds(limits, 1);

/** Pause before resending bytes that never left: 1 s, doubled each time, at most 60 s. */
export const resendPauseSeconds = (triesSoFar: number): number => Math.min(60, 2 ** Math.max(0, triesSoFar - 1));
