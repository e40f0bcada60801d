/**
 * Compresses as zlib does (RFC 1950 and 1951, one block of fixed codes). zlib's own result depends on its version and on the
 * processor; this one depends on the input alone, so that a document has the same bytes on every machine.
 */
export const deflate = (input: Uint8Array): Buffer => {
  const bits = bitWriter(input.length + (input.length >> 2) + 64);
  bits.put(0x0178, 16);
  bits.put(LAST_BLOCK_OF_FIXED_CODES, 3);
  const matches = matcher(input);
  let at = 0;
  while (at < input.length) {
    const { length, distance } = matches.longest(at);
    if (length < SHORTEST) {
      putSymbol(bits, input[at] ?? 0);
      at += 1;
      continue;
    }
    putLength(bits, length);
    putDistance(bits, distance);
    matches.skip(at + 1, at + length);
    at += length;
  }
  putSymbol(bits, END_OF_BLOCK);
  return Buffer.concat([bits.bytes(), adler32(input)]);
};

const LAST_BLOCK_OF_FIXED_CODES = 0b011;
const END_OF_BLOCK = 256;
const SHORTEST = 3;
const LONGEST = 258;
const WINDOW = 32_768;
/** Earlier places that are compared; more cost more time than they save bytes. */
const TRIES = 16;

type Bits = { put(value: number, count: number): void; bytes(): Buffer };

const bitWriter = (size: number): Bits => {
  const out = Buffer.alloc(size);
  let at = 0;
  let held = 0;
  let count = 0;
  const flush = () => {
    while (count >= 8) {
      out[at] = held & 0xff;
      at += 1;
      held >>>= 8;
      count -= 8;
    }
  };
  return {
    put: (value, width) => {
      held |= value << count;
      count += width;
      flush();
    },
    bytes: () => {
      count = Math.ceil(count / 8) * 8;
      flush();
      return out.subarray(0, at);
    },
  };
};

/** Finds where the bytes at a place stood before; every place must be looked for or skipped, in order. */
const matcher = (input: Uint8Array) => {
  const newest = new Int32Array(WINDOW).fill(-1);
  const before = new Int32Array(input.length);
  const remember = (at: number): number => {
    if (at + SHORTEST > input.length) return -1;
    const three = ((input[at] ?? 0) << 16) | ((input[at + 1] ?? 0) << 8) | (input[at + 2] ?? 0);
    const slot = Math.imul(three, 0x9e3779b1) >>> 17;
    const candidate = newest[slot] ?? -1;
    before[at] = candidate;
    newest[slot] = at;
    return candidate;
  };
  const lengthAt = (candidate: number, at: number): number => {
    const most = Math.min(LONGEST, input.length - at);
    let length = 0;
    while (length < most && input[candidate + length] === input[at + length]) length += 1;
    return length;
  };
  return {
    longest: (at: number): { length: number; distance: number } => {
      let found = { length: 0, distance: 0 };
      let candidate = remember(at);
      for (let tries = 0; tries < TRIES && candidate >= 0 && at - candidate <= WINDOW; tries += 1) {
        // Worth comparing only if it could be longer.
        if (input[candidate + found.length] === input[at + found.length]) {
          const length = lengthAt(candidate, at);
          if (length > found.length) found = { length, distance: at - candidate };
          if (length === LONGEST) break;
        }
        candidate = before[candidate] ?? -1;
      }
      return found;
    },
    skip: (from: number, to: number) => {
      for (let at = from; at < to; at += 1) remember(at);
    },
  };
};

/** Codes are written with their first bit first, numbers with their last. */
const reversed = (code: number, width: number): number => {
  let result = 0;
  for (let bit = 0; bit < width; bit += 1) result |= ((code >> bit) & 1) << (width - 1 - bit);
  return result;
};

const fixedCode = (symbol: number): { code: number; width: number } => {
  if (symbol < 144) return { code: 0x30 + symbol, width: 8 };
  if (symbol < 256) return { code: 0x190 + symbol - 144, width: 9 };
  return symbol < 280 ? { code: symbol - 256, width: 7 } : { code: 0xc0 + symbol - 280, width: 8 };
};

const symbols = Array.from({ length: 288 }, (_, symbol) => {
  const { code, width } = fixedCode(symbol);
  return { code: reversed(code, width), width };
});

const putSymbol = (bits: Bits, symbol: number) => {
  const { code, width } = symbols[symbol] ?? { code: 0, width: 0 };
  bits.put(code, width);
};

/** Smallest value of each code and the number of extra bits, as RFC 1951, 3.2.5 lists them. */
const ranges = (first: number, extras: readonly number[]): readonly { base: number; extra: number }[] => {
  let base = first;
  return extras.map((extra) => {
    const range = { base, extra };
    base += 1 << extra;
    return range;
  });
};

const LENGTHS = ranges(3, [0, 0, 0, 0, 0, 0, 0, 0, ...[1, 2, 3, 4, 5].flatMap((extra) => Array(4).fill(extra))]);
const DISTANCES = ranges(1, [0, 0, ...Array.from({ length: 14 }, (_, extra) => [extra, extra]).flat()]);

/** By value, so that nothing is searched for each match. */
const indexes = (list: typeof LENGTHS, greatest: number): Uint8Array =>
  Uint8Array.from({ length: greatest + 1 }, (_, value) =>
    Math.max(
      0,
      list.findLastIndex(({ base }) => base <= value),
    ),
  );

const LENGTH_INDEX = indexes(LENGTHS, LONGEST);
const DISTANCE_INDEX = indexes(DISTANCES, WINDOW);

const putLength = (bits: Bits, length: number) => {
  // The longest has a code of its own.
  if (length === LONGEST) return putSymbol(bits, 285);
  const index = LENGTH_INDEX[length] ?? 0;
  const { base, extra } = LENGTHS[index] ?? { base: length, extra: 0 };
  putSymbol(bits, 257 + index);
  bits.put(length - base, extra);
};

const putDistance = (bits: Bits, distance: number) => {
  const index = DISTANCE_INDEX[distance] ?? 0;
  const { base, extra } = DISTANCES[index] ?? { base: distance, extra: 0 };
  bits.put(reversed(index, 5), 5);
  bits.put(distance - base, extra);
};

const adler32 = (input: Uint8Array): Buffer => {
  let [low, high] = [1, 0];
  for (let at = 0; at < input.length; ) {
    const end = Math.min(input.length, at + SUMMED_AT_ONCE);
    for (; at < end; at += 1) {
      low += input[at] ?? 0;
      high += low;
    }
    low %= 65_521;
    high %= 65_521;
  }
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(high * 65_536 + low);
  return sum;
};

/** So many bytes of 255 keep both sums below 2^31. */
const SUMMED_AT_ONCE = 3_800;
