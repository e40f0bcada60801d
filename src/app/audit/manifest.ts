import * as v from 'valibot';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { StreamHead } from './merkle.js';
import { companyId, hash, instant, maybe, place, shape, text, whole } from './schema-parts.js';

export const MANIFEST_FORMAT = 'nfse-events-export/1';

/** Which events an export holds: all, or those of one company and those recorded in `from` (inclusive) to `to` (exclusive). */
export type ExportFilter = { company?: string; from?: string; to?: string };

/** What the signature covers; the streams are covered by `merkle_root` (interface.md "Shapes of --json"). */
export type ManifestHead = {
  format: typeof MANIFEST_FORMAT;
  /** Identity of the log. */
  log: string;
  exported_at: string;
  filter: ExportFilter;
  file: string;
  bytes: number;
  /** Of the file as it lies there, compressed or not. */
  sha256: string;
  events: number;
  stream_count: number;
  first_position?: string;
  last_position?: string;
  merkle_root: string;
  public_key: string;
};

/** A stream's head in the export and how many of its events are in it; `first_revision` above 0: the earlier ones are not. */
export type ManifestStream = StreamHead & { first_revision: number; events: number };

export type Manifest = ManifestHead & { signature: string; streams: readonly ManifestStream[] };

/** The one spelling that is signed: the head with sorted keys, without streams and signature. */
export const signedText = (head: ManifestHead): string => sortedJson(head);

const schema = shape({
  format: v.literal(MANIFEST_FORMAT),
  log: text,
  exported_at: instant,
  filter: shape({ company: maybe(companyId), from: maybe(instant), to: maybe(instant) }),
  file: text,
  bytes: whole,
  sha256: hash,
  events: whole,
  stream_count: whole,
  first_position: maybe(place),
  last_position: maybe(place),
  merkle_root: hash,
  public_key: text,
  signature: text,
  streams: v.array(shape({ stream: text, first_revision: whole, revision: whole, events: whole, hash })),
});

/** Undefined for anything but a manifest of this format. */
export const readManifest = (json: string): Manifest | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(json), { abortEarly: true });
    return success ? (output as Manifest) : undefined;
  } catch {
    return undefined;
  }
};

/** The signed head out of a whole manifest. */
export const headOf = ({ signature: _signature, streams: _streams, ...head }: Manifest): ManifestHead => head;

/** The manifest piece by piece, one stream a line, so that its text never stands in memory as a whole. */
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
