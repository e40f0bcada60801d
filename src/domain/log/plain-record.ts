import type { HashedEvent } from './hash-text.js';

type ReadEvent = HashedEvent & { stream: string; revision: number };

/**
 * Whether a record is the hash text of the event that was read from it, by what that text would measure: making it again is a third of
 * a walk over the log. False says nothing (the record may have escapes, or keys that begin with a digit); true is wrong only for a
 * spelling of the same content whose departures cancel each other out, a space for a digit of an exponent.
 */
export const isPlainHashText = (record: string, event: ReadEvent): boolean => {
  const { stream, revision, id, type, metadata, data } = event;
  if (record.includes('\\') || !record.startsWith(`[1,"${metadata.prevHash ?? ''}",`)) return false;
  const { hash: _hash, ...others } = metadata;
  const keys = Object.keys(others);
  // A pair is spelled `["key","value"]`, where a key of an object has `"key":"value"`.
  const pairs = lengthOf(others) + keys.length * 2;
  return (
    record.length === lengthOf([1, metadata.prevHash ?? '', stream, revision, id, type]) + pairs + 2 + lengthOf(data)
  );
};

/** Characters of its canonical text where that has no escapes; NaN for what has none, or cannot be told from here. */
const lengthOf = (value: unknown): number => {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'boolean':
      return value ? 4 : 5;
    case 'number':
      return Number.isSafeInteger(value) ? String(value).length : Number.NaN;
    case 'object':
      return value === null ? Number.NaN : Array.isArray(value) ? lengthOfArray(value) : lengthOfObject(value);
    default:
      return Number.NaN;
  }
};

const lengthOfArray = (items: readonly unknown[]): number => {
  let length = items.length === 0 ? 2 : items.length + 1;
  for (const item of items) length += lengthOf(item);
  return length;
};

const lengthOfObject = (object: object): number => {
  let length = 1;
  let last: string | undefined;
  for (const [key, value] of Object.entries(object)) {
    if ((last !== undefined && key <= last) || /^\d/.test(key)) return Number.NaN;
    length += key.length + 4 + lengthOf(value);
    last = key;
  }
  return last === undefined ? 2 : length;
};
