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
  const { metadata, id, type, data } = event;
  let pairs = '';
  for (const key of Object.keys(metadata).sort()) {
    if (key !== 'hash') pairs += `${pairs === '' ? '' : ','}[${JSON.stringify(key)},${sortedJson(metadata[key])}]`;
  }
  const [prevHash, names] = [sortedJson(metadata.prevHash ?? ''), `${sortedJson(id)},${sortedJson(type)}`];
  return `[1,${prevHash},${sortedJson(stream)},${sortedJson(revision)},${names},[${pairs}],${sortedJson(data)}]`;
};

/**
 * `JSON.stringify` with object keys in code unit order. Only strings, booleans, safe integers, arrays and plain objects
 * with non-numeric keys (JavaScript would move numeric ones to the front) have such a text; else throws `NotCanonical`.
 */
export const sortedJson = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isSafeInteger(value)) throw new NotCanonical('a number must be a safe integer');
      return JSON.stringify(value);
    case 'object':
      if (Array.isArray(value)) return `[${Array.from(value, sortedJson).join(',')}]`;
      if (isPlainObject(value)) return objectJson(value);
      throw new NotCanonical('null and class instances have no canonical text');
    default:
      throw new NotCanonical(`a value of type ${typeof value} has no canonical text`);
  }
};

const NUMBER = /^\d+$/;

const objectJson = (object: Record<string, unknown>): string => {
  let members = '';
  // Without a comparison of its own, `sort` goes by code units.
  for (const key of Object.keys(object).sort()) {
    if (NUMBER.test(key)) throw new NotCanonical('an object key must not be a number');
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${sortedJson(object[key])}`;
  }
  return `{${members}}`;
};

const isPlainObject = (value: object | null): value is Record<string, unknown> => {
  if (value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
