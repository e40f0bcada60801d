import { createJsonScanner, type JsonScanner, type Scanned } from './json-scanner.js';
import { createScanTurns, type ScanTurns } from './scan-turns.js';

/** At most this much is looked at in one go; what the server hands over is no larger. */
export const SLICE_BYTES = 64 * 1024;

export type BodyScan = {
  /** The next bytes; to be awaited when there is something to wait for. */
  take(chunk: Uint8Array): Promise<void> | undefined;
  end(): Scanned;
};

/** Of the process, as the event loop is. */
const processTurns = createScanTurns();

/** Scans a body slice by slice, each in a turn of the event loop that has room for it. */
export const createBodyScan = (
  turns: ScanTurns = processTurns,
  scanner: JsonScanner = createJsonScanner(),
): BodyScan => {
  const bySlices = async (chunk: Uint8Array): Promise<void> => {
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) {
      const slice = chunk.subarray(from, from + SLICE_BYTES);
      await turns.take(slice.length);
      scanner.feed(slice);
    }
  };
  return {
    take: (chunk) => {
      if (chunk.length > SLICE_BYTES) return bySlices(chunk);
      const turn = turns.take(chunk.length);
      if (turn !== undefined) return turn.then(() => scanner.feed(chunk));
      scanner.feed(chunk);
      return undefined;
    },
    end: scanner.end,
  };
};
