import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { sortedJson } from '../../domain/log/hash-text.js';
import {
  companyId,
  hash,
  instant,
  integerFrom0,
  optional,
  position,
  readSharedJson,
  strictObject,
  text,
} from './schema-parts.js';

export const MANIFEST_FORMAT = 'nfse-events-export/1';

const filter = strictObject({ company: optional(companyId), from: optional(instant), to: optional(instant) });

/** Which events an export holds: all, or those of one company and those recorded in `from` (inclusive) to `to` (exclusive). */
export type ExportFilter = v.InferOutput<typeof filter>;

const head = strictObject({
  format: v.literal(MANIFEST_FORMAT),
  /** Identity of the log. */
  log: text,
  exported_at: instant,
  filter,
  file: text,
  bytes: integerFrom0,
  /** Of the file as it is on disk, compressed or not. */
  sha256: hash,
  events: integerFrom0,
  stream_count: integerFrom0,
  first_position: optional(position),
  last_position: optional(position),
  /** Of a whole log: its head when the export began. */
  head_position: optional(position),
  /** Of a whole log: whether its engine numbers positions without a gap. Absent in an export of an earlier version, whose end cannot be checked. */
  dense_positions: optional(v.boolean()),
  /** Of a rehearsal, in which an Idempotency-Key is good for less than a day: for how many seconds. */
  key_seconds: optional(integerFrom0),
  merkle_root: hash,
  public_key: text,
});

/** What the signature covers; `merkle_root` covers the streams (docs/operations/audit.md#an-export-and-its-manifest). */
export type ManifestHead = v.InferOutput<typeof head>;

const stream = strictObject({
  stream: text,
  first_revision: integerFrom0,
  revision: integerFrom0,
  events: integerFrom0,
  hash,
});

/** The head of a stream in the export and how many of its events are in it. `first_revision` above 0: earlier events are not in the export. */
export type ManifestStream = v.InferOutput<typeof stream>;

const schema = strictObject({ ...head.entries, signature: text, streams: v.array(stream) });

export type Manifest = v.InferOutput<typeof schema>;

/** The text that is signed: the head as JSON with sorted keys, without streams and signature. */
export const signedText = (signed: ManifestHead): string => sortedJson(signed);

/** Undefined when the text is not a manifest of this format. */
export const readManifest = (json: string): Manifest | undefined => readSharedJson(schema, json);

/** The signed head out of a whole manifest. */
export const headOf = ({ signature: _signature, streams: _streams, ...signed }: Manifest): ManifestHead => signed;

/** The manifest in pieces, one line a stream, so that its whole text is never in memory. */
export function* manifestText(
  signed: ManifestHead,
  signature: string,
  streams: Iterable<ManifestStream>,
): Generator<string, void, void> {
  const opening = JSON.stringify({ ...signed, signature }, null, 2);
  yield `${opening.slice(0, opening.lastIndexOf('\n}'))},\n  "streams": [`;
  let before = '';
  for (const { stream: name, first_revision, revision, events, hash: last } of streams) {
    yield `${before}\n    ${JSON.stringify({ stream: name, first_revision, revision, events, hash: last })}`;
    before = ',';
  }
  yield '\n  ]\n}\n';
}

/** DER of an Ed25519 public key (RFC 8410) without its last 32 bytes, which are the key. */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;

const NAMED = /^ed25519:([A-Za-z0-9_-]{43})$/;

/** Reads a public key as `doctor` prints it, as PEM, or as DER or 32 bytes in base64. Undefined for anything else. */
export const readPublicKey = (given: string): string | undefined => {
  const text = given.trim();
  if (NAMED.test(text)) return text;
  try {
    if (text.startsWith('-----BEGIN')) return nameOf(createPublicKey(text));
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length === KEY_BYTES) return `ed25519:${bytes.toString('base64url')}`;
    return nameOf(createPublicKey({ key: bytes, format: 'der', type: 'spki' }));
  } catch {
    return undefined;
  }
};

/** `ed25519:<base64url>`; undefined for a key of another type. */
const nameOf = (key: KeyObject): string | undefined => {
  if (key.asymmetricKeyType !== 'ed25519') return undefined;
  const der = key.export({ format: 'der', type: 'spki' });
  return `ed25519:${der.subarray(der.length - KEY_BYTES).toString('base64url')}`;
};

export const isSignedBy = (publicKey: string, text: string, signature: string): boolean => {
  const [, raw] = NAMED.exec(publicKey) ?? [];
  if (raw === undefined) return false;
  const der = Buffer.concat([SPKI_HEAD, Buffer.from(raw, 'base64url')]);
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
};
