import { type DatabaseLine, openDatabaseLine } from './database-line.js';

export type SilentProxy = Pick<DatabaseLine, 'connectionString' | 'silence' | 'close'>;

/** Stands before a server and can lose its answers: the only way to see a commit without its acknowledgement. */
export const silentProxy = (target: string): Promise<SilentProxy> => openDatabaseLine(target);
