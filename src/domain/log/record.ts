import { UUID } from '../common/ids.js';
import { type HashedEvent, hashText, hashTextIfAny, isInOrder, NotCanonical } from './hash-text.js';

/** The stored form of an event: the hash text itself with the hash beside it, so that readers get exactly what was hashed. */
export type StoredRecord = { record: string; hash: string };

/** Throws `NotCanonical` for an event that could not be read back exactly. */
export const toRecord = (
  stream: string,
  revision: number,
  event: HashedEvent & { hashText?: string },
): StoredRecord => {
  const hash = event.metadata.hash;
  if (hash === undefined) throw new NotCanonical('an event without metadata.hash cannot be stored');
  if (!UUID.test(event.id)) throw new NotCanonical('an event id must be a UUID');
  if (Object.hasOwn(event.metadata, '__proto__')) throw new NotCanonical('metadata has no key __proto__');
  for (const name of [stream, event.type, hash]) {
    if (UNSTORABLE.test(name)) throw new NotCanonical('a stream, type or hash holds a character that no engine stores');
  }
  return { record: event.hashText ?? hashText(stream, revision, event), hash };
};

/** The inverse of `toRecord`. */
export const fromRecord = ({ record, hash }: StoredRecord): RecordContent => contentOf(parseRecord(record), hash);

/** The JSON array of a record; throws for any other text. */
export const parseRecord = (record: string): ParsedRecord => {
  const parsed: unknown = JSON.parse(record);
  if (!Array.isArray(parsed) || parsed[0] !== 1) throw new NotCanonical('a record of an unknown format');
  return parsed as unknown as ParsedRecord;
};

/** What `hashText` writes, as far as readers rely on it; a record that was edited may hold anything. */
type ParsedRecord = readonly [
  format: 1,
  prevHash: string,
  stream: string,
  revision: number,
  id: string,
  type: string,
  pairs: readonly (readonly [string, string])[],
  data: RecordContent['data'],
];

export const contentOf = (parsed: ParsedRecord, hash: string): RecordContent => {
  const [, , stream, revision, id, type, pairs, data] = parsed;
  // Every read of an event runs through this loop; `Object.fromEntries` would add a third to its cost.
  const metadata: Record<string, string> = {};
  for (const [key, value] of pairs) {
    if (key === '__proto__') throw new NotCanonical('metadata has no key __proto__');
    metadata[key] = value;
  }
  metadata.hash = hash;
  return { stream, revision, id, type, data, metadata };
};

/**
 * The hash text of a record's own event, as `hashTextIfAny`. It is the record itself unless the record was edited, and proving that is faster than
 * writing the text again.
 */
export const hashTextOfRecord = (record: string, parsed: ParsedRecord, content: RecordContent): string | undefined =>
  isInCanonicalOrder(parsed, content) && JSON.stringify(parsed) === record
    ? record
    : hashTextIfAny(content.stream, content.revision, content);

/** Whether the array is the one that `hashText` would write. */
const isInCanonicalOrder = (parsed: ParsedRecord, { metadata }: RecordContent): boolean => {
  const [, prevHash, , , , , pairs, data] = parsed;
  let before = '';
  for (const pair of pairs) {
    const [key] = pair;
    if (pair.length !== 2 || key <= before || key === 'hash') return false;
    before = key;
  }
  return parsed.length === 8 && prevHash === (metadata.prevHash ?? '') && isInOrder(data);
};

type RecordContent = {
  stream: string;
  revision: number;
  id: string;
  type: string;
  data: { readonly [key: string]: CanonicalJson };
  metadata: Readonly<Record<string, string>>;
};

/** The values that `sortedJson` writes. */
type CanonicalJson = string | number | boolean | readonly CanonicalJson[] | { readonly [key: string]: CanonicalJson };

/** NUL and lone surrogates: engines would return the text changed, or refuse it. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;
