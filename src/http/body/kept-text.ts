/** Bytes that are kept up to a limit; what goes beyond drops all of them. */
export type KeptText = {
  put(byte: number): void;
  putRange(chunk: Uint8Array, start: number, end: number): void;
  /** Nothing is kept any more. */
  drop(): void;
  overflowed(): boolean;
  /** UTF-8, which must have been checked. */
  text(): string;
};

const FIRST_BYTES = 1024;
const NONE = Buffer.alloc(0);

export const createKeptText = (limitBytes: number): KeptText => {
  let bytes = Buffer.allocUnsafe(FIRST_BYTES);
  let used = 0;
  let dropped = false;
  let overflowed = false;
  const drop = (): void => {
    dropped = true;
    used = 0;
    bytes = NONE;
  };
  const hasRoom = (more: number): boolean => {
    if (dropped) return false;
    if (used + more <= bytes.length) return true;
    if (used + more > limitBytes) {
      overflowed = true;
      drop();
      return false;
    }
    const larger = Buffer.allocUnsafe(Math.min(limitBytes, Math.max(2 * bytes.length, used + more)));
    larger.set(bytes.subarray(0, used));
    bytes = larger;
    return true;
  };
  return {
    put: (byte) => {
      if (!hasRoom(1)) return;
      bytes[used] = byte;
      used += 1;
    },
    putRange: (chunk, start, end) => {
      if (!hasRoom(end - start)) return;
      bytes.set(chunk.subarray(start, end), used);
      used += end - start;
    },
    drop,
    overflowed: () => overflowed,
    text: () => bytes.toString('utf8', 0, used),
  };
};
