/** The fields that the hash chain covers; structurally the event of the log port. */
export type HashedEvent = {
  id: string;
  type: string;
  data: unknown;
  metadata: Readonly<Record<string, string>>;
};

/** Thrown for an event without a single spelling: another engine could not find its hash again. */
export class NotCanonical extends Error {
  override readonly name: string = 'NotCanonical';
}

/** Events nest a few levels deep. A walk through 100,000 levels would exhaust the stack. */
const MAX_DEPTH = 64;

/** Thrown for data that nests more than 64 levels deep: no version of this program has written such an event. */
export class TooDeep extends NotCanonical {
  override readonly name = 'TooDeep';

  constructor() {
    super(`data must not nest more than ${MAX_DEPTH} levels deep`);
  }
}

/**
 * The text whose SHA-256 (UTF-8) is the event's `hash` (docs/architecture.md#sealing-and-hash-chain): a JSON array of 1, prevHash, stream,
 * revision, id, type, the metadata without `hash` as sorted pairs, and the data with sorted keys. Throws `NotCanonical`.
 */
export const hashText = (stream: string, revision: number, event: HashedEvent): string => {
  const pairs = Object.entries(event.metadata)
    .filter(([key]) => key !== 'hash')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([
    1,
    event.metadata.prevHash ?? '',
    stream,
    revision,
    event.id,
    event.type,
    pairs,
    inOrder(event.data),
  ]);
};

/** As `hashText`; undefined for an event without such a text, which this program would not have stored. Throws `TooDeep`. */
export const hashTextIfAny = (stream: string, revision: number, event: HashedEvent): string | undefined => {
  try {
    return hashText(stream, revision, event);
  } catch (error) {
    if (error instanceof NotCanonical && !(error instanceof TooDeep)) return undefined;
    throw error;
  }
};

/**
 * `JSON.stringify` with object keys in code unit order. Takes strings, booleans, safe integers, arrays and plain objects with non-numeric
 * keys (JavaScript would move numeric keys to the front); throws `NotCanonical` for anything else.
 */
export const sortedJson = (value: unknown): string => JSON.stringify(inOrder(value));

/** The same value with its keys in order. Stored events come back in order, so a walk over the log builds each only once. Throws `NotCanonical`. */
export const inOrder = (value: unknown): unknown => {
  if (isInOrder(value)) return value;
  // Only here, so that a value in order is walked once.
  if (isTooDeep(value)) throw new TooDeep();
  return rebuilt(value);
};

/** Whether all keys are in code unit order; false also for a value without a canonical text. `depth`: how many levels lie above the value. */
export const isInOrder = (value: unknown, depth = 0): boolean => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isSafeInteger(value);
    case 'object': {
      if (depth >= MAX_DEPTH) return false;
      if (Array.isArray(value)) {
        for (const item of value) if (!isInOrder(item, depth + 1)) return false;
        return true;
      }
      if (!isPlainObject(value)) return false;
      let before = '';
      for (const key of Object.keys(value)) {
        if (key < before || NUMERIC.test(key) || !isInOrder(value[key], depth + 1)) return false;
        before = key;
      }
      return true;
    }
    default:
      return false;
  }
};

const isTooDeep = (value: unknown, depth = 0): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth >= MAX_DEPTH || Object.values(value).some((inner) => isTooDeep(inner, depth + 1)));

const rebuilt = (value: unknown): unknown => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isSafeInteger(value)) throw new NotCanonical('a number must be a safe integer');
      return value;
    case 'object':
      if (Array.isArray(value)) return Array.from(value, rebuilt);
      if (isPlainObject(value)) return rebuiltObject(value);
      throw new NotCanonical('null and class instances have no canonical text');
    default:
      throw new NotCanonical(`a value of type ${typeof value} has no canonical text`);
  }
};

const rebuiltObject = (object: Record<string, unknown>): Record<string, unknown> => {
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(object).sort()) {
    if (NUMERIC.test(key)) throw new NotCanonical('an object key must not be a number');
    const value = rebuilt(object[key]);
    // An assignment to this key would set the object's prototype.
    if (key === '__proto__') Object.defineProperty(ordered, key, { value, enumerable: true });
    else ordered[key] = value;
  }
  return ordered;
};

const NUMERIC = /^\d+$/;

const isPlainObject = (value: object | null): value is Record<string, unknown> => {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
