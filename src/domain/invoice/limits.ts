/** Time windows of the contract and counts of the send protocol, in seconds. The configuration makes one value of this type. */
export type Limits = {
  /** Queued without an attempt for this time: `failed` (TRANS-2). */
  queuedSeconds: number;
  /** Processing without a signal for this time: `indeterminate`, or `failed` where nothing came of any attempt (TRANS-3). */
  processingSeconds: number;
  /** A pending cancellation without confirmation for this time: `failed` (TRANS-8). */
  cancellationSeconds: number;
  /** How long a test invoice is kept. */
  testRetentionSeconds: number;
  /** Seconds for one send; its deadline is this plus the grace of the append. */
  sendSeconds: number;
  /** Pauses before the look-ups, in order; the last one repeats. Never empty. */
  lookupIntervalsSeconds: readonly number[];
};

/** Attempts whose bytes left; attempts that were not sent do not count (docs/architecture.md#never-twice, 7). */
export const MAX_SENDS = 5;

/**
 * Where the next send begins after `sent` sends, while the authorizer answers without deciding: 0, 1/8, 3/8 and 7/8 of the time in which sends may
 * begin. Each pause is twice as long as the one before, so a condition that passes within that time does not use up the five sends.
 */
export const nextSendShare = (sent: number): number => (2 ** (sent - 1) - 1) / 2 ** (MAX_SENDS - 2);

/** Pause before look-up `n`, counted from 0. */
export const lookupPauseSeconds = (limits: Pick<Limits, 'lookupIntervalsSeconds'>, n: number): number =>
  limits.lookupIntervalsSeconds[Math.min(n, limits.lookupIntervalsSeconds.length - 1)] ?? 0;

/** Two absent look-ups prove an absence only when they are at least this far apart (docs/architecture.md#never-twice, 6). */
export const absenceGapSeconds = (limits: Pick<Limits, 'lookupIntervalsSeconds'>): number =>
  lookupPauseSeconds(limits, 1);

/**
 * The same after a refusal with an uncatalogued code, where nothing is sent again and the authorizer's uniqueness is no second lock: the pause before
 * the fourth look-up, 5 minutes by default (ADR 41).
 */
export const refusalGapSeconds = (limits: Pick<Limits, 'lookupIntervalsSeconds'>): number =>
  Math.max(absenceGapSeconds(limits), lookupPauseSeconds(limits, 3));

/** How long the recording of a confirmation is retried past the time-out: 10 min by default, shorter in a rehearsal with short windows. */
export const recordingSeconds = (limits: Pick<Limits, 'cancellationSeconds'>): number =>
  Math.ceil(limits.cancellationSeconds / 6);

/** Pause before resending bytes that never left: 1 s, doubled each time, at most 60 s. */
export const resendPauseSeconds = (triesSoFar: number): number => Math.min(60, 2 ** Math.max(0, triesSoFar - 1));
