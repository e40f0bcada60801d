import { sha256Binary } from '../hashes.js';

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

  const sameKey = (slot: number, key: Uint32Array): boolean =>
    slots[slot] === key[0] && slots[slot + 1] === key[1] && slots[slot + 2] === key[2] && slots[slot + 3] === key[3];

  /** The slot of the key, or the free one where it would go. A holder is kept plus one: 0 is a free slot. */
  const slotOf = (key: Uint32Array): number => {
    const room = slots.length / WORDS;
    let place = (key[0] ?? 0) % room;
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
      slots.set(words, slotOf(words));
    }
  };

  return {
    get size() {
      return size;
    },
    holderOf: (key) => holderAt(slotOf(wordsOf(key))),
    take: (key, holder) => {
      const words = wordsOf(key);
      const slot = slotOf(words);
      const held = holderAt(slot);
      if (held !== undefined) return held;
      slots.set(words, slot);
      slots[slot + 4] = holder + 1;
      size += 1;
      if (size > (slots.length / WORDS) * FULL) grow();
      return undefined;
    },
  };
};

const KEY_WORDS = 4;

/** The first 128 bits of the key's SHA-256; valid until the next call. */
const wordsOf = (key: string): Uint32Array => {
  const bytes = sha256Binary(key);
  for (let word = 0; word < KEY_WORDS; word += 1) {
    const at = word * 4;
    scratch[word] =
      bytes.charCodeAt(at) |
      (bytes.charCodeAt(at + 1) << 8) |
      (bytes.charCodeAt(at + 2) << 16) |
      (bytes.charCodeAt(at + 3) << 24);
  }
  return scratch;
};

const scratch = new Uint32Array(KEY_WORDS);
