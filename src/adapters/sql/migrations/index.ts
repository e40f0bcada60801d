import type { Migration } from '../migrate.js';
import { eventLogMigration } from './0001-event-log.js';

/** Forward only, in order; one that has run anywhere is never edited. */
export const migrations: readonly Migration[] = [eventLogMigration];
