import { setImmediate as nextTurn } from 'node:timers/promises';

/** Takes a part of a turn of the event loop. Undefined when this turn has room; otherwise resolves in a turn with room, in order of the calls. */
export type TakeTurn = (size: number) => Promise<void> | undefined;

/** Shares each turn of the event loop: all callers together take at most `perTurn` of it, or one of them takes a whole turn for a larger size. */
export const createTurns = (perTurn: number, turn: () => Promise<unknown> = () => nextTurn()): TakeTurn => {
  const waiting: { size: number; start: () => void }[] = [];
  let taken = 0;
  const hasRoom = (size: number): boolean => taken === 0 || taken + size <= perTurn;
  const take = (size: number): void => {
    if (taken === 0) void turn().then(begin);
    taken += size;
  };
  const begin = (): void => {
    taken = 0;
    for (let first = waiting[0]; first !== undefined && hasRoom(first.size); first = waiting[0]) {
      waiting.shift();
      take(first.size);
      first.start();
    }
  };
  return (size) => {
    if (waiting.length > 0 || !hasRoom(size)) return new Promise((start) => waiting.push({ size, start }));
    take(size);
    return undefined;
  };
};
