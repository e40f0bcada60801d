import type { StreamName } from '../../domain/shared/ids.js';
import type { Revision } from '../../ports/event-log.js';
import type { StreamHead } from './merkle.js';
import { createNameTable } from './name-table.js';

const HASH_BYTES = 32;

/**
 * The head of every stream of a walk. A stream costs its name (see `NameTable`), 36 bytes, and `numbers` × 8 bytes of what the
 * caller keeps of it; events cost nothing. Streams are known by their index, in order of their first event.
 */
export type StreamTable = {
  readonly size: number;
  find(stream: StreamName): number | undefined;
  /** The index of a stream that has none yet. */
  add(stream: StreamName): number;
  nameOf(index: number): StreamName;
  revisionOf(index: number): Revision;
  hashOf(index: number): string;
  setHead(index: number, revision: Revision, hash: string): void;
  /** The caller's numbers of this stream, zeros at first. */
  numbersOf(index: number): Float64Array;
  headOf(index: number): StreamHead;
};

export const createStreamTable = (numbers = 0): StreamTable => {
  const names = createNameTable();
  const blocks: Block[] = [];
  const blockOf = (index: number): Block => blocks[Math.floor(index / BLOCK)] ?? NO_BLOCK;
  const revisionOf = (index: number): Revision => blockOf(index).revisions[index % BLOCK] ?? -1;
  const hashOf = (index: number): string => {
    const at = (index % BLOCK) * HASH_BYTES;
    return blockOf(index).hashes.toString('hex', at, at + HASH_BYTES);
  };

  return {
    get size() {
      return names.size;
    },
    find: names.find,
    add: (stream) => {
      const index = names.add(stream);
      if (index % BLOCK === 0) blocks.push(emptyBlock(numbers));
      return index;
    },
    nameOf: names.nameOf,
    revisionOf,
    hashOf,
    setHead: (index, revision, hash) => {
      const { revisions, hashes } = blockOf(index);
      const at = (index % BLOCK) * HASH_BYTES;
      revisions[index % BLOCK] = revision;
      hashes.fill(0, at + hashes.write(hash, at, HASH_BYTES, 'hex'), at + HASH_BYTES);
    },
    numbersOf: (index) => {
      const at = (index % BLOCK) * numbers;
      return blockOf(index).kept.subarray(at, at + numbers);
    },
    headOf: (index) => ({ stream: names.nameOf(index), revision: revisionOf(index), hash: hashOf(index) }),
  };
};

/** What is kept of so many streams in a row; a table that grows copies nothing. */
type Block = { revisions: Int32Array; hashes: Buffer; kept: Float64Array };

const BLOCK = 4_096;

const emptyBlock = (numbers: number): Block => ({
  revisions: new Int32Array(BLOCK),
  hashes: Buffer.alloc(BLOCK * HASH_BYTES),
  kept: new Float64Array(BLOCK * numbers),
});

const NO_BLOCK: Block = { revisions: new Int32Array(), hashes: Buffer.alloc(0), kept: new Float64Array() };

/** Indexes in code unit order of the names, as the Merkle tree wants its leaves. */
export const inOrder = (table: StreamTable, indexes: readonly number[]): readonly number[] =>
  indexes.toSorted((a, b) => (table.nameOf(a) < table.nameOf(b) ? -1 : 1));
