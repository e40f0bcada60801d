import { describe } from 'vitest';
import { guardsContract } from '../contracts/guards.js';
import { lookupMemosContract } from '../contracts/lookup-memos.js';
import { pendingCutsContract } from '../contracts/pending-cuts.js';
import { createMemoryGuards } from './memory/guards.js';

describe('guards in memory', () => {
  const guards = createMemoryGuards();
  guardsContract(() => guards);
  lookupMemosContract(() => guards.lookups);
  pendingCutsContract(() => guards.cuts);
});
