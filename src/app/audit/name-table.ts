import { randomInt } from 'node:crypto';
import type { StreamName } from '../../domain/shared/ids.js';

const CHUNK_BYTES = 1 << 20;
const LENGTH_BYTES = 4;
/** Names begin at multiples of it. */
const STEP = 4;
const FIRST_SLOTS = 4_096;
const FULL = 0.7;

/**
 * The names of the streams of a walk, numbered from 0 in order of their coming. One of an invoice costs about 85 bytes outside the
 * heap, its own 60 among them; as a text in a `Map` it would be 140, all of them work for the collector.
 */
export type NameTable = {
  readonly size: number;
  find(name: StreamName): number | undefined;
  /** The number of a name that has none yet. */
  add(name: StreamName): number;
  nameOf(index: number): StreamName;
};

export const createNameTable = (): NameTable => {
  const chunks: Buffer[] = [];
  let free = CHUNK_BYTES;
  /** Where each name stands in all chunks, in steps. */
  let places = new Uint32Array(FIRST_SLOTS);
  let size = 0;
  /** An index plus one, 0: free. */
  let slots = new Uint32Array(FIRST_SLOTS);
  /** Nobody can prepare names that all fall into one slot. */
  const seed = randomInt(2 ** 32);

  const isAt = (index: number, spelling: string): boolean => {
    const { chunk, offset } = placeOf(index);
    if (chunk.readUInt32LE(offset) !== spelling.length) return false;
    const start = offset + LENGTH_BYTES;
    for (let at = 0; at < spelling.length; at += 1) {
      if (chunk[start + at] !== spelling.charCodeAt(at)) return false;
    }
    return true;
  };
  const placeOf = (index: number): { chunk: Buffer; offset: number } => {
    const place = (places[index] ?? 0) * STEP;
    return { chunk: chunks[Math.floor(place / CHUNK_BYTES)] ?? NOWHERE, offset: place % CHUNK_BYTES };
  };
  /** The slot that has the name, or the free one where it would go. */
  const slotOf = (spelling: string): number => {
    let slot = markOf(spelling, seed) % slots.length;
    for (let held = slots[slot] ?? 0; held !== 0 && !isAt(held - 1, spelling); held = slots[slot] ?? 0) {
      slot = (slot + 1) % slots.length;
    }
    return slot;
  };
  /** Offset of so many free bytes in the last chunk. */
  const room = (length: number): number => {
    if (free + length > CHUNK_BYTES) {
      chunks.push(Buffer.alloc(Math.max(CHUNK_BYTES, length)));
      free = 0;
    }
    const offset = free;
    free = Math.ceil((free + length) / STEP) * STEP;
    return offset;
  };
  const spellingAt = (index: number): string => {
    const { chunk, offset } = placeOf(index);
    const start = offset + LENGTH_BYTES;
    return chunk.toString('latin1', start, start + chunk.readUInt32LE(offset));
  };
  const grow = (): void => {
    const before = places;
    places = new Uint32Array(before.length * 2);
    places.set(before);
    slots = new Uint32Array(slots.length * 2);
    for (let index = 0; index < size; index += 1) slots[slotOf(spellingAt(index))] = index + 1;
  };

  return {
    get size() {
      return size;
    },
    find: (name) => {
      const held = slots[slotOf(spellingOf(name))] ?? 0;
      return held === 0 ? undefined : held - 1;
    },
    add: (name) => {
      if (size >= slots.length * FULL) grow();
      const spelling = spellingOf(name);
      const slot = slotOf(spelling);
      const offset = room(LENGTH_BYTES + spelling.length);
      const chunk = chunks[chunks.length - 1] ?? NOWHERE;
      chunk.writeUInt32LE(spelling.length, offset);
      chunk.write(spelling, offset + LENGTH_BYTES, 'latin1');
      places[size] = ((chunks.length - 1) * CHUNK_BYTES + offset) / STEP;
      size += 1;
      slots[slot] = size;
      return size - 1;
    },
    nameOf: (index) => (index < size ? nameOfSpelling(spellingAt(index)) : ''),
  };
};

/** Any name in ASCII, and no two in the same: our own are spelled as they are. */
const spellingOf = (name: StreamName): string => name.replace(ODD, (odd) => `%${hexOf(odd)}`);

const nameOfSpelling = (spelling: string): StreamName =>
  spelling.replace(/%([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const ODD = /[^\w-]/g;

const hexOf = (codeUnit: string): string => codeUnit.charCodeAt(0).toString(16).padStart(4, '0');

/** FNV-1a, 32 bits. */
const markOf = (spelling: string, seed: number): number => {
  let mark = seed;
  for (let at = 0; at < spelling.length; at += 1) mark = Math.imul(mark ^ spelling.charCodeAt(at), 0x01000193);
  return mark >>> 0;
};

const NOWHERE = Buffer.alloc(0);
