/** A queue in which owners take turns. Every operation takes the same time, however many wait; `createFairQueue` looks at each owner. */
export const createTurnQueue = <T>() => {
  /** Each owner that has items, once. */
  const owners = createFifo<string>();
  const queues = new Map<string, Fifo<T>>();
  return {
    push: (owner: string, item: T): void => {
      let queue = queues.get(owner);
      if (queue === undefined) {
        queue = createFifo<T>();
        queues.set(owner, queue);
        owners.push(owner);
      }
      queue.push(item);
    },
    /** Takes the first item of the owner whose turn is next, and puts the owner behind the others. */
    next: (): T | undefined => {
      const owner = owners.shift();
      const queue = owner === undefined ? undefined : queues.get(owner);
      if (owner === undefined || queue === undefined) return undefined;
      const item = queue.shift();
      if (queue.isEmpty()) queues.delete(owner);
      else owners.push(owner);
      return item;
    },
    isEmpty: (): boolean => owners.isEmpty(),
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
