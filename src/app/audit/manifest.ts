import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { StreamHead } from './merkle.js';
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

/** Which events an export holds: all, or those of one company and those recorded in `from` (inclusive) to `to` (exclusive). */
export type ExportFilter = { company?: string; from?: string; to?: string };

/** What the signature covers; `merkle_root` covers the streams (docs/operations/audit.md#an-export-and-its-manifest). */
export type ManifestHead = {
  format: typeof MANIFEST_FORMAT;
  /** Identity of the log. */
  log: string;
  exported_at: string;
  filter: ExportFilter;
  file: string;
  bytes: number;
  /** Of the file as it is on disk, compressed or not. */
  sha256: string;
  events: number;
  stream_count: number;
  first_position?: string;
  last_position?: string;
  /** Of a whole log: its head when the export began. */
  head_position?: string;
  /** Of a whole log: whether its engine numbers positions without a gap. Absent in an export of an earlier version, whose end cannot be checked. */
  dense_positions?: boolean;
  /** Of a rehearsal, in which an Idempotency-Key is good for less than a day: for how many seconds. */
  key_seconds?: number;
  merkle_root: string;
  public_key: string;
};

/** The head of a stream in the export and how many of its events are in it. `first_revision` above 0: earlier events are not in the export. */
export type ManifestStream = StreamHead & { first_revision: number; events: number };

export type Manifest = ManifestHead & { signature: string; streams: readonly ManifestStream[] };

/** The text that is signed: the head as JSON with sorted keys, without streams and signature. */
export const signedText = (head: ManifestHead): string => sortedJson(head);

const schema = strictObject({
  format: v.literal(MANIFEST_FORMAT),
  log: text,
  exported_at: instant,
  filter: strictObject({ company: optional(companyId), from: optional(instant), to: optional(instant) }),
  file: text,
  bytes: integerFrom0,
  sha256: hash,
  events: integerFrom0,
  stream_count: integerFrom0,
  first_position: optional(position),
  last_position: optional(position),
  head_position: optional(position),
  dense_positions: optional(v.boolean()),
  key_seconds: optional(integerFrom0),
  merkle_root: hash,
  public_key: text,
  signature: text,
  streams: v.array(
    strictObject({ stream: text, first_revision: integerFrom0, revision: integerFrom0, events: integerFrom0, hash }),
  ),
});

/** Undefined when the text is not a manifest of this format. */
export const readManifest = (json: string) => readSharedJson(schema, json) as Manifest | undefined;

/** The signed head out of a whole manifest. */
export const headOf = ({ signature: _signature, streams: _streams, ...head }: Manifest): ManifestHead => head;

/** The manifest in pieces, one line a stream, so that its whole text is never in memory. */
export function* manifestText(
  head: ManifestHead,
  signature: string,
  streams: Iterable<ManifestStream>,
): Generator<string, void, void> {
  const opening = JSON.stringify({ ...head, signature }, null, 2);
  yield `${opening.slice(0, opening.lastIndexOf('\n}'))},\n  "streams": [`;
  let before = '';
  for (const { stream, first_revision, revision, events, hash: last } of streams) {
    yield `${before}\n    ${JSON.stringify({ stream, first_revision, revision, events, hash: last })}`;
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
