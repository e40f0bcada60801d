import { deliverBatch, type SendBatch, type Waiting } from './deliver-batch.js';

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
