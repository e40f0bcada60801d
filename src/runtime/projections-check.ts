import type { ProjectionStatus, rowsOfOtherVersions } from '../workers/projection-status.js';

export type ProjectionsState = {
  statuses: readonly Pick<ProjectionStatus, 'name' | 'lagSeconds'>[];
  others: Awaited<ReturnType<typeof rowsOfOtherVersions>>;
};

/** `lag_s` is the longest, `lags` has all of them, in seconds. */
export type ProjectionsCheck = {
  ok: boolean;
  reason?: string;
  lag_s: number;
  lags: Readonly<Record<string, number>>;
};

const READY_LAG_SECONDS = 30;

/** Rows of an older version stand still until the swap, and a read that finds one late folds its stream: no fault. */
export const projectionsCheck = (
  { statuses, others }: ProjectionsState,
  halted: ReadonlySet<string>,
): ProjectionsCheck => {
  const isBeingReplaced = (name: string): boolean => others.some((other) => other.older && other.name === name);
  const wrong = [
    ...[...halted].map((name) => `${name} halted`),
    ...statuses
      .filter(({ name, lagSeconds }) => lagSeconds >= READY_LAG_SECONDS && !isBeingReplaced(name))
      .map(({ name, lagSeconds }) => `${name} lags ${Math.round(lagSeconds)} s behind the log`),
    ...others
      .filter(({ readable }) => !readable)
      .map(({ name, older }) => `${name} has rows of ${older ? 'an older' : 'a newer'} version`),
  ];
  return {
    ok: wrong.length === 0,
    ...(wrong.length === 0 ? {} : { reason: wrong.join('; ') }),
    lag_s: Math.max(0, ...statuses.map(({ lagSeconds }) => lagSeconds)),
    lags: Object.fromEntries(statuses.map(({ name, lagSeconds }) => [name, lagSeconds])),
  };
};
