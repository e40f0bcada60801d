import { isUtf8 } from 'node:buffer';

/** Whether bytes that come in parts are UTF-8, wherever the parts are cut. */
export type Utf8Check = {
  /** False as soon as the bytes so far cannot be the beginning of UTF-8, and ever after. */
  feed(chunk: Uint8Array): boolean;
  /** Whether the last character is whole too. */
  end(): boolean;
};

export const createUtf8Check = (): Utf8Check => {
  const begun = new Uint8Array(4);
  let have = 0;
  let need = 0;
  let valid = true;
  /** Completes the character that the part before has begun; answers where the next one starts. */
  const complete = (chunk: Uint8Array): number => {
    let from = 0;
    for (; have < need && from < chunk.length; from += 1, have += 1) begun[have] = chunk[from] ?? 0;
    if (have < need) return from;
    valid &&= isUtf8(begun.subarray(0, need));
    have = 0;
    need = 0;
    return from;
  };
  return {
    feed: (chunk) => {
      const from = complete(chunk);
      if (!valid || from === chunk.length) return valid;
      const tail = begunAtEnd(chunk, from);
      const end = chunk.length - tail;
      valid = isUtf8(chunk.subarray(from, end));
      if (tail > 0) {
        begun.set(chunk.subarray(end));
        have = tail;
        need = lengthOf(chunk[end] ?? 0);
      }
      return valid;
    },
    end: () => valid && need === 0,
  };
};

/** Bytes at the end that are the beginning of a character, 0 to 3. */
const begunAtEnd = (chunk: Uint8Array, from: number): number => {
  for (let back = 1; back <= 3 && chunk.length - back >= from; back += 1) {
    const byte = chunk[chunk.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
};

const lengthOf = (first: number): number => {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
};

/** Every byte of a character but its first. */
export const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
