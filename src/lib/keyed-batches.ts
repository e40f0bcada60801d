type Waiting<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void };

/**
 * Sends items in batches of one key, one batch of a key at a time: while it is under way the next batch of that key gathers. Other keys are not held
 * up. `send` returns one result for each item, in their order; when it rejects, each item of the batch rejects.
 */
export const createKeyedBatches = <Item, Result>(
  send: (items: readonly Item[]) => Promise<readonly Result[]>,
): ((key: string, item: Item) => Promise<Result>) => {
  const queues = new Map<string, Waiting<Item, Result>[]>();

  const pump = async (key: string, queue: Waiting<Item, Result>[]): Promise<void> => {
    while (queue.length > 0) await deliver(queue.splice(0), send);
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

const deliver = async <Item, Result>(
  batch: readonly Waiting<Item, Result>[],
  send: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<void> => {
  try {
    const results = await send(batch.map(({ item }) => item));
    if (results.length !== batch.length) throw new Error('a batch did not answer each of its items');
    for (const [index, result] of results.entries()) batch[index]?.resolve(result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
};
