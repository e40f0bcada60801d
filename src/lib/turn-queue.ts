/**
 * A queue in which owners take turns. Every operation takes the same time on average, however many wait; `createFairQueue` looks at each owner. An owner
 * that is held gets no turn until it is released.
 */
export const createTurnQueue = <T>() => {
  /** Each owner that has items and is not held, once; and held owners whose turn has not come since. */
  const owners = createFifo<string>();
  const inRotation = new Set<string>();
  const queues = new Map<string, Fifo<T>>();
  const held = new Set<string>();
  /** Owners that have items and are not held. */
  let mayHaveTurn = 0;

  const rotate = (owner: string): void => {
    if (inRotation.has(owner)) return;
    inRotation.add(owner);
    owners.push(owner);
  };

  const nextOwner = (): string | undefined => {
    for (;;) {
      const owner = owners.shift();
      if (owner === undefined) return undefined;
      inRotation.delete(owner);
      if (!held.has(owner)) return owner;
    }
  };

  return {
    push: (owner: string, item: T): void => {
      let queue = queues.get(owner);
      if (queue === undefined) {
        queue = createFifo<T>();
        queues.set(owner, queue);
        if (!held.has(owner)) mayHaveTurn += 1;
        rotate(owner);
      }
      queue.push(item);
    },
    /** Takes the first item of the owner whose turn is next, and puts the owner behind the others. */
    next: (): T | undefined => {
      const owner = nextOwner();
      const queue = owner === undefined ? undefined : queues.get(owner);
      if (owner === undefined || queue === undefined) return undefined;
      const item = queue.shift();
      if (queue.isEmpty()) {
        queues.delete(owner);
        mayHaveTurn -= 1;
      } else rotate(owner);
      return item;
    },
    hold: (owner: string): void => {
      if (held.has(owner)) return;
      held.add(owner);
      if (queues.has(owner)) mayHaveTurn -= 1;
    },
    release: (owner: string): void => {
      if (!held.delete(owner) || !queues.has(owner)) return;
      mayHaveTurn += 1;
      rotate(owner);
    },
    /** Whether no owner that is not held has items. */
    isEmpty: (): boolean => mayHaveTurn === 0,
  };
};

type Fifo<T> = { push(item: T): void; shift(): T | undefined; isEmpty(): boolean };

type Link<T> = { item: T; next: Link<T> | undefined };

/** Links, because `shift` of an array moves all other items once there are many. */
const createFifo = <T>(): Fifo<T> => {
  let first: Link<T> | undefined;
  let last: Link<T> | undefined;
  return {
    push: (item) => {
      const link: Link<T> = { item, next: undefined };
      if (last === undefined) first = link;
      else last.next = link;
      last = link;
    },
    shift: () => {
      const link = first;
      first = link?.next;
      if (first === undefined) last = undefined;
      return link?.item;
    },
    isEmpty: () => first === undefined,
  };
};
