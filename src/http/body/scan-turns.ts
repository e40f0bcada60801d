import { setImmediate as nextTurn } from 'node:timers/promises';

/** A millisecond or two of work, and ten times that before the code is compiled. */
const BYTES_PER_TURN = 128 * 1024;

/** Shares a turn of the event loop among all bodies that are looked at, so that many of them block no longer than a single one. */
export type ScanTurns = {
  /** Undefined when there is room at once; else resolves in the turn that has it. */
  take(bytes: number): Promise<void> | undefined;
};

export const createScanTurns = (
  bytesPerTurn: number = BYTES_PER_TURN,
  turn: () => Promise<unknown> = () => nextTurn(),
): ScanTurns => {
  let taken = 0;
  /** What is larger than a turn has one to itself. */
  const takes = (bytes: number): boolean => {
    if (taken > 0 && taken + bytes > bytesPerTurn) return false;
    if (taken === 0)
      void turn().then(() => {
        taken = 0;
      });
    taken += bytes;
    return true;
  };
  const wait = async (bytes: number): Promise<void> => {
    do await turn();
    while (!takes(bytes));
  };
  return { take: (bytes) => (takes(bytes) ? undefined : wait(bytes)) };
};
