import { createFairGate, createPresence, type FairGate } from '../waiting/fair-gate.js';

/** Beside others a company has so many under way; the rest of what it asks for waits, up to what is refused. */
const COMMANDS = { what: 'commands', atOnce: 1_024, atOnceOfOne: 12, atOnceAlone: 64, waitingOfOne: 512 };
const READS = { what: 'reads', atOnce: 256, atOnceOfOne: 8, atOnceAlone: 32, waitingOfOne: 512 };

/**
 * What clients ask for by key, in turns by company; commands and reads do not wait for each other. A company that only reads is no
 * less there for one that only writes: both use one pool of connections to the database.
 */
export const createTurns = (): { commands: FairGate; reads: FairGate } => {
  const presence = createPresence();
  return { commands: createFairGate({ ...COMMANDS, presence }), reads: createFairGate({ ...READS, presence }) };
};
