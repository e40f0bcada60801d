import { type HashedEvent, hashText, NotCanonical } from './hash-text.js';

/** How an engine keeps an event: the hash text itself, and the hash beside it, so that what is read is what was hashed. */
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
  // Every read of an event comes by here: `Object.fromEntries` would cost a third of it.
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

/** What `sortedJson` writes. */
type CanonicalJson = string | number | boolean | readonly CanonicalJson[] | { readonly [key: string]: CanonicalJson };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** NUL and lone surrogates: the text would come back changed, or not at all. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;
