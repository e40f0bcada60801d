import { describe } from 'vitest';
import { guardsContract } from '../contracts/guards.js';
import { lookupProgressContract } from '../contracts/lookup-progress.js';
import { pendingCutsContract } from '../contracts/pending-cuts.js';
import { createMemoryGuards } from './memory/guards.js';

describe('guards in memory', () => {
  const guards = createMemoryGuards();
  guardsContract(() => guards);
  lookupProgressContract(() => guards.lookups);
  pendingCutsContract(() => guards.cuts);
});
