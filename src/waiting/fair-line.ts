/** Those who wait, in turns by owner: however many of one owner wait, another's first is behind one of each owner only. */
export type FairLine<T> = {
  /** Behind the owner's others. */
  push(owner: string, item: T): void;
  /** Before the owner's others, and the owner before all others. */
  pushFirst(owner: string, item: T): void;
  /** Takes the item whose turn it is, of an owner that `mayGo` lets through; undefined when there is none. */
  next(mayGo?: (owner: string) => boolean): { owner: string; item: T } | undefined;
  /** Takes one that gave up; nothing when it is not in line any more. */
  remove(owner: string, item: T): void;
  waitingOf(owner: string): number;
  /** Empties the line; in no order that means anything. */
  takeAll(): readonly T[];
};

export const createFairLine = <T>(): FairLine<T> => {
  // The order of a Map is that of insertion: who had a turn is put behind all others.
  let lines = new Map<string, T[]>();
  return {
    push: (owner, item) => {
      const line = lines.get(owner);
      if (line === undefined) lines.set(owner, [item]);
      else line.push(item);
    },
    pushFirst: (owner, item) => {
      const others = lines.get(owner) ?? [];
      lines.delete(owner);
      lines = new Map([[owner, [item, ...others]], ...lines]);
    },
    next: (mayGo = () => true) => {
      for (const [owner, line] of lines) {
        if (!mayGo(owner)) continue;
        const item = line.shift();
        lines.delete(owner);
        if (line.length > 0) lines.set(owner, line);
        return item === undefined ? undefined : { owner, item };
      }
      return undefined;
    },
    remove: (owner, item) => {
      const line = lines.get(owner) ?? [];
      const at = line.indexOf(item);
      if (at >= 0) line.splice(at, 1);
      if (line.length === 0) lines.delete(owner);
    },
    waitingOf: (owner) => lines.get(owner)?.length ?? 0,
    takeAll: () => {
      const all = [...lines.values()].flat();
      lines = new Map();
      return all;
    },
  };
};
