import { type DatabaseLine, openDatabaseLine } from './database-line.js';

export type SilentProxy = Pick<DatabaseLine, 'connectionString' | 'silence' | 'close'>;

/** A proxy in front of a server that can lose answers: the only way to test a commit without its acknowledgement. */
export const silentProxy = (target: string): Promise<SilentProxy> => openDatabaseLine(target);
