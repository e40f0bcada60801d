/** What the hash chain covers of an event; structurally the event of the log port. */
export type HashedEvent = {
  id: string;
  type: string;
  data: unknown;
  metadata: Readonly<Record<string, string>>;
};

/** Thrown for an event that has no single spelling, and so no hash that another engine would find again. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical';
}

/**
 * The text whose SHA-256 (UTF-8) is the event's `hash` (design section 4): a JSON array of 1, prevHash, stream,
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
    canonical(event.data),
  ]);
};

/** The same, undefined for an event that has no such text: this program would not have stored it. */
export const hashTextIfAny = (stream: string, revision: number, event: HashedEvent): string | undefined => {
  try {
    return hashText(stream, revision, event);
  } catch (error) {
    if (error instanceof NotCanonical) return undefined;
    throw error;
  }
};

/**
 * `JSON.stringify` with object keys in code unit order. Only strings, booleans, safe integers, arrays and plain objects
 * with non-numeric keys (JavaScript would move numeric ones to the front) have such a text; else throws `NotCanonical`.
 */
export const sortedJson = (value: unknown): string => JSON.stringify(canonical(value));

/** The same value with its keys in order: one call of the engine's own `JSON.stringify` then costs half of many. */
const canonical = (value: unknown): unknown => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isSafeInteger(value)) throw new NotCanonical('a number must be a safe integer');
      return value;
    case 'object':
      if (Array.isArray(value)) return Array.from(value, canonical);
      if (isPlainObject(value)) return inOrder(value);
      throw new NotCanonical('null and class instances have no canonical text');
    default:
      throw new NotCanonical(`a value of type ${typeof value} has no canonical text`);
  }
};

const inOrder = (object: Record<string, unknown>): Record<string, unknown> => {
  const ordered: Record<string, unknown> = {};
  for (const key of Object.keys(object).sort()) {
    if (NUMERIC.test(key)) throw new NotCanonical('an object key must not be a number');
    const value = canonical(object[key]);
    // Assigned, this one key would be the object's prototype.
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
