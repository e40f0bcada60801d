/** A map that forgets the entry used longest ago once it holds more than `limit`. */
export type Lru<K, V> = {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  entries(): Iterable<[K, V]>;
};

export const lru = <K, V>(limit: number): Lru<K, V> => {
  const entries = new Map<K, V>();
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= limit) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    },
    delete: (key) => {
      entries.delete(key);
    },
    entries: () => entries.entries(),
  };
};
