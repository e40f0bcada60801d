import { createFairGate, type FairGate } from '../waiting/fair-gate.js';

/** Beside others a company has so many under way; the rest of what it asks for waits, up to what is refused. */
const COMMANDS = { what: 'commands', atOnce: 1_024, atOnceOfOne: 12, atOnceAlone: 1_024, waitingOfOne: 512 };
const READS = { what: 'reads', atOnce: 256, atOnceOfOne: 8, atOnceAlone: 256, waitingOfOne: 512 };

/** What clients ask for by key, in turns by company; commands and reads do not wait for each other. */
export const createTurns = (): { commands: FairGate; reads: FairGate } => ({
  commands: createFairGate(COMMANDS),
  reads: createFairGate(READS),
});
