/**
 * Milliseconds after the database is back in which another process may still be about to record a pause: each process takes up to two looks to see what
 * it has lost and to record that, of which one may hang for 3 s, and the others one more. All connections are made again at
 * once, which takes seconds on a busy server.
 */
const JUST_BACK_MS = 5_000;

/**
 * Milliseconds without a look that ended well after which the database counts as away: a process that was frozen knows nothing of that time, and a
 * connection to a server that is gone fails late. Longer than the event loop of a busy machine is held up.
 */
const SILENT_MS = 3_000;

type DatabasePresence = {
  /**
   * A look at the database ended well. `server`: which server answered; undefined where the look did not ask for that. Returns whether another server
   * answered before, while no look has failed.
   */
  answered(server: string | undefined): boolean;
  failed(): void;
  /** Whether the database is away, or was a moment ago, as in a failover. */
  wasAway(): boolean;
};

/**
 * Follows whether the database was away, by looks that are made all the time. `beginsAway`: the database counts as away before the first look, as a
 * process that has just started cannot know. `nowMs` is monotonic.
 */
export const createDatabasePresence = (
  beginsAway: boolean,
  nowMs = (): number => performance.now(),
): DatabasePresence => {
  let answeredAt = nowMs();
  let backAt: number | undefined;
  let hasFailed = beginsAway;
  let known: string | undefined;
  return {
    answered: (server) => {
      answeredAt = nowMs();
      // A proxy or an address that moves may lead to the new primary without any look that fails.
      const isOther = !hasFailed && server !== undefined && known !== undefined && server !== known;
      if (hasFailed || isOther) backAt = answeredAt;
      hasFailed = false;
      known = server ?? known;
      return isOther;
    },
    failed: () => {
      hasFailed = true;
    },
    wasAway: () => {
      const now = nowMs();
      return hasFailed || now - answeredAt > SILENT_MS || (backAt !== undefined && now - backAt < JUST_BACK_MS);
    },
  };
};
