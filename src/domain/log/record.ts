import { UUID } from '../common/ids.js';
import { type HashedEvent, hashText, NotCanonical } from './hash-text.js';

/** The stored form of an event: the hash text itself with the hash beside it, so that readers get exactly what was hashed. */
export type StoredRecord = { record: string; hash: string };

/** Throws `NotCanonical` for an event that could not be read back exactly. */
export const toRecord = (stream: string, revision: number, event: HashedEvent): StoredRecord => {
  const hash = event.metadata.hash;
  if (hash === undefined) throw new NotCanonical('an event without metadata.hash cannot be stored');
  if (!UUID.test(event.id)) throw new NotCanonical('an event id must be a UUID');
  if (Object.hasOwn(event.metadata, '__proto__')) throw new NotCanonical('metadata has no key __proto__');
  for (const name of [stream, event.type, hash]) {
    if (UNSTORABLE.test(name)) throw new NotCanonical('a stream, type or hash holds a character that no engine stores');
  }
  return { record: hashText(stream, revision, event), hash };
};

/** The inverse of `toRecord`. */
export const fromRecord = ({ record, hash }: StoredRecord): RecordContent => {
  const content: unknown = JSON.parse(record);
  if (!Array.isArray(content) || content[0] !== 1) throw new NotCanonical('a record of an unknown format');
  const [, , stream, revision, id, type, pairs, data] = content;
  // Every read of an event runs through this loop; `Object.fromEntries` would add a third to its cost.
  const metadata: Record<string, string> = {};
  for (const [key, value] of pairs) {
    if (key === '__proto__') throw new NotCanonical('metadata has no key __proto__');
    metadata[key] = value;
  }
  metadata.hash = hash;
  return { stream, revision, id, type, data, metadata };
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
