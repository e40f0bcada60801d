/** What is due first comes first; what is due at the same time comes in the order it was pushed. */
export type DueHeap<T> = {
  push(item: T): void;
  first(): T | undefined;
  /** Takes the first one away. */
  pop(): void;
};

type Node<T> = { item: T; order: number };

/** A binary heap by `dueMs`: pushing and popping cost the logarithm of what is in it. */
export const createDueHeap = <T extends { dueMs: number }>(): DueHeap<T> => {
  const nodes: Node<T>[] = [];
  let pushed = 0;

  const isBefore = (a: Node<T>, b: Node<T>): boolean =>
    a.item.dueMs < b.item.dueMs || (a.item.dueMs === b.item.dueMs && a.order < b.order);

  const earlierChild = (at: number): number => {
    const left = nodes[2 * at + 1];
    const right = nodes[2 * at + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  };

  const rise = (node: Node<T>, from: number): void => {
    let at = from;
    while (at > 0) {
      const above = Math.floor((at - 1) / 2);
      const parent = nodes[above];
      if (parent === undefined || !isBefore(node, parent)) break;
      nodes[at] = parent;
      at = above;
    }
    nodes[at] = node;
  };

  const sink = (node: Node<T>): void => {
    let at = 0;
    for (;;) {
      const below = earlierChild(at);
      const child = nodes[below];
      if (child === undefined || !isBefore(child, node)) break;
      nodes[at] = child;
      at = below;
    }
    nodes[at] = node;
  };

  return {
    push: (item) => {
      pushed += 1;
      rise({ item, order: pushed }, nodes.length);
    },
    first: () => nodes[0]?.item,
    pop: () => {
      const last = nodes.pop();
      if (last !== undefined && nodes.length > 0) sink(last);
    },
  };
};
