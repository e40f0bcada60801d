import * as v from 'valibot';
import { anchorStream } from '../../domain/audit/events.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { RecordedAnchor } from './anchor-log.js';
import type { Finding } from './finding.js';
import { date, hash, instant, integerFrom0, position, strictObject, text } from './schema-parts.js';

const FORMAT = 'nfse-log-anchor/1';

/** What operators publish: an anchor with the identity of its log. */
type AnchorFile = RecordedAnchor & { format: typeof FORMAT; log: string };

export const anchorFileName = (day: string): string => `anchor-${day}.json`;

export const anchorFileText = (anchor: RecordedAnchor, log: string): string =>
  `${JSON.stringify({ format: FORMAT, log, ...anchor }, null, 2)}\n`;

const part = strictObject({ root: hash, streams: integerFrom0, events: integerFrom0 });

const schema = strictObject({
  format: v.literal(FORMAT),
  log: text,
  day: date,
  after: v.union([v.literal(''), position]),
  upTo: position,
  live: part,
  test: part,
  at: instant,
  hash,
});

/** Undefined when the text is not a published anchor file. */
const readAnchorFile = (json: string): AnchorFile | undefined => {
  try {
    const { success, output } = v.safeParse(schema, JSON.parse(json), { abortEarly: true });
    return success ? output : undefined;
  } catch {
    return undefined;
  }
};

/** A file of the folder of published anchors, with its name for the finding. */
export type PublishedFile = { name: string; text: string };

/**
 * Compares published anchors with those of the log. The anchor walk checks that the log's anchors fit its events. Both together show that nothing
 * before the last published anchor was changed since, not even by the owner of the database.
 */
export const compareAnchors = async (
  files: readonly PublishedFile[],
  findInLog: (day: string) => Promise<RecordedAnchor | undefined>,
): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const { name, text } of files) {
    const published = readAnchorFile(text);
    if (published === undefined) {
      findings.push({ kind: 'anchor_mismatch', detail: `${name} is no published anchor` });
      continue;
    }
    const stream = anchorStream(published.day);
    const anchor = await findInLog(published.day);
    if (anchor === undefined) {
      findings.push({
        kind: 'anchor_missing',
        stream,
        detail: `${name} was published, but the log has no such anchor`,
      });
    } else if (sortedJson(anchor) !== sortedJson(anchorOf(published))) {
      const detail = `${name} was published with another content: the log was rewritten since`;
      findings.push({ kind: 'anchor_mismatch', stream, revision: 0, detail });
    }
  }
  return findings;
};

const anchorOf = ({ format: _format, log: _log, ...anchor }: AnchorFile): RecordedAnchor => anchor;
