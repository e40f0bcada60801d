/** An item of a batch, and the promise of the caller who waits for its result. */
export type Waiting<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void };

/** Sends a batch; returns one result per item, in the order of the items. */
export type SendBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly Result[]>;

/** Sends the batch and settles its items. After a failure `isOfOneItem` each is sent alone, after any other each rejects. Never rejects itself. */
export const deliverBatch = async <Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  send: SendBatch<Item, Result>,
  isOfOneItem: (error: unknown) => boolean = () => false,
): Promise<void> => {
  try {
    const results = await send(batch.map(({ item }) => item));
    if (results.length !== batch.length) throw new Error('a batch did not answer each of its items');
    for (const [index, result] of results.entries()) batch[index]?.resolve(result);
  } catch (error) {
    if (batch.length > 1 && isOfOneItem(error)) for (const one of batch) await deliverBatch([one], send);
    else for (const { reject } of batch) reject(error);
  }
};

/** Sends items in batches of one key: while one is under way, the next of that key gathers. When `send` rejects, each item of its batch rejects. */
export const createKeyedBatches = <Item, Result>(
  send: SendBatch<Item, Result>,
): ((key: string, item: Item) => Promise<Result>) => {
  const queues = new Map<string, Waiting<Item, Result>[]>();

  const pump = async (key: string, queue: Waiting<Item, Result>[]): Promise<void> => {
    while (queue.length > 0) await deliverBatch(queue.splice(0), send);
    queues.delete(key);
  };

  return (key, item) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const queue = queues.get(key);
      if (queue !== undefined) return void queue.push(waiting);
      const begun = [waiting];
      queues.set(key, begun);
      void pump(key, begun);
    });
};
