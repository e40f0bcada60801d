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
