import { isEarlier, type LogPosition } from '../../ports/event-log.js';

/** What an operator does about rows that were made from events which the log does not have. */
export const RECONCILE = 'read docs/operations/lost-database.md, then nfse doctor --reconcile';

/** Why issuing is paused. After a restore of both nothing shows how far the log once went, and a newer log may have been put in place since. */
export const pauseText = (head: LogPosition | null, furthest: LogPosition | null): string =>
  isEarlier(head, furthest)
    ? `the log ends at ${head ?? 'nothing'}, before ${furthest} that the database was made from: issuing is paused`
    : `the log, which ends at ${head ?? 'nothing'}, was restored or has lost its end, and is not yet compared with the authorizer: issuing is paused`;
