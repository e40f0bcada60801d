import type { StreamName } from '../../domain/shared/ids.js';
import type { Revision } from '../../ports/event-log.js';
import type { StreamHead } from './merkle.js';

const HASH_BYTES = 32;
const FIRST_ROOM = 1_024;

/**
 * The head of every stream of a walk. A stream costs its name, 36 bytes, and `numbers` × 8 bytes of what the caller keeps of it;
 * events cost nothing. Streams are known by their index, in order of their first event.
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
  /** The caller's numbers of this stream, zeros at first; valid until the next `add`. */
  numbersOf(index: number): Float64Array;
  headOf(index: number): StreamHead;
};

export const createStreamTable = (numbers = 0): StreamTable => {
  const indexes = new Map<StreamName, number>();
  const names: StreamName[] = [];
  let revisions = new Int32Array(FIRST_ROOM);
  let hashes = Buffer.alloc(FIRST_ROOM * HASH_BYTES);
  let kept = new Float64Array(FIRST_ROOM * numbers);

  const grow = (): void => {
    const room = revisions.length * 2;
    const before = { revisions, hashes, kept };
    revisions = new Int32Array(room);
    revisions.set(before.revisions);
    hashes = Buffer.alloc(room * HASH_BYTES);
    hashes.set(before.hashes);
    kept = new Float64Array(room * numbers);
    kept.set(before.kept);
  };
  const hashOf = (index: number): string => hashes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
  const nameOf = (index: number): StreamName => names[index] ?? '';
  const revisionOf = (index: number): Revision => revisions[index] ?? -1;

  return {
    get size() {
      return names.length;
    },
    find: (stream) => indexes.get(stream),
    add: (stream) => {
      const index = names.length;
      if (index === revisions.length) grow();
      names.push(stream);
      indexes.set(stream, index);
      return index;
    },
    nameOf,
    revisionOf,
    hashOf,
    setHead: (index, revision, hash) => {
      revisions[index] = revision;
      hashes.fill(0, index * HASH_BYTES, (index + 1) * HASH_BYTES);
      hashes.write(hash, index * HASH_BYTES, HASH_BYTES, 'hex');
    },
    numbersOf: (index) => kept.subarray(index * numbers, (index + 1) * numbers),
    headOf: (index) => ({ stream: nameOf(index), revision: revisionOf(index), hash: hashOf(index) }),
  };
};

/** Indexes in code unit order of the names, as the Merkle tree wants its leaves. */
export const inOrder = (table: StreamTable, indexes: readonly number[]): readonly number[] =>
  indexes.toSorted((a, b) => (table.nameOf(a) < table.nameOf(b) ? -1 : 1));
