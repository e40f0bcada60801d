import { describe } from 'vitest';
import { createMemoryGuards } from '../../../src/adapters/guards-memory/guards.js';
import { guardsContract } from '../../contracts/guards.js';
import { lookupMemosContract } from '../../contracts/lookup-memos.js';
import { pendingCutsContract } from '../../contracts/pending-cuts.js';

describe('guards in memory', () => {
  const guards = createMemoryGuards();
  guardsContract(() => guards);
  lookupMemosContract(() => guards.lookups);
  pendingCutsContract(() => guards.cuts);
});
