import { createHash } from 'node:crypto';

const WORDS = 5;
const FIRST_ROOM = 4_096;
const FULL = 0.7;

/**
 * Who holds a key: the first 128 bits of its SHA-256 stand for it, 20 bytes and the room of a hash table, at most 60 bytes a key.
 * Two keys that share those bits would be a false alarm: less than one in 10^26 for a billion keys.
 */
export type UniqueKeys = {
  readonly size: number;
  /** The holder (a whole number from 0) when the key has one, else takes it for this holder. */
  take(key: string, holder: number): number | undefined;
  holderOf(key: string): number | undefined;
};

export const createUniqueKeys = (): UniqueKeys => {
  let slots = new Uint32Array(FIRST_ROOM * WORDS);
  let size = 0;

  const sameKey = (slot: number, key: Buffer): boolean =>
    slots[slot] === key.readUInt32LE(0) &&
    slots[slot + 1] === key.readUInt32LE(4) &&
    slots[slot + 2] === key.readUInt32LE(8) &&
    slots[slot + 3] === key.readUInt32LE(12);

  /** The slot of the key, or the free one where it would go. A holder is kept plus one: 0 is a free slot. */
  const slotOf = (key: Buffer): number => {
    const room = slots.length / WORDS;
    let place = key.readUInt32LE(0) % room;
    while (slots[place * WORDS + 4] !== 0 && !sameKey(place * WORDS, key)) place = (place + 1) % room;
    return place * WORDS;
  };
  const holderAt = (slot: number): number | undefined => {
    const held = slots[slot + 4] ?? 0;
    return held === 0 ? undefined : held - 1;
  };
  const grow = (): void => {
    const before = slots;
    slots = new Uint32Array(before.length * 2);
    for (let slot = 0; slot < before.length; slot += WORDS) {
      if (before[slot + 4] === 0) continue;
      const words = before.subarray(slot, slot + WORDS);
      slots.set(words, slotOf(Buffer.from(words.slice().buffer)));
    }
  };

  return {
    get size() {
      return size;
    },
    holderOf: (key) => holderAt(slotOf(digestOf(key))),
    take: (key, holder) => {
      const digest = digestOf(key);
      const slot = slotOf(digest);
      const held = holderAt(slot);
      if (held !== undefined) return held;
      for (let word = 0; word < 4; word += 1) slots[slot + word] = digest.readUInt32LE(word * 4);
      slots[slot + 4] = holder + 1;
      size += 1;
      if (size > (slots.length / WORDS) * FULL) grow();
      return undefined;
    },
  };
};

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest();
