import * as v from 'valibot';
import { anchorStream } from '../../domain/audit/events.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { RecordedAnchor } from './anchor-log.js';
import type { Finding } from './finding.js';
import { anchorFields, hash, readJson, strictObject, text } from './schema-parts.js';

const FORMAT = 'nfse-log-anchor/1';

export const anchorFileName = (day: string): string => `anchor-${day}.json`;

/** What operators publish: an anchor with the identity of its log. */
export const anchorFileText = (anchor: RecordedAnchor, log: string): string =>
  `${JSON.stringify({ format: FORMAT, log, ...anchor }, null, 2)}\n`;

const schema = strictObject({ format: v.literal(FORMAT), log: text, ...anchorFields, hash });

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
    const published = readJson(schema, text);
    if (published === undefined) {
      findings.push({ kind: 'anchor_mismatch', detail: `${name} is no published anchor` });
      continue;
    }
    const stream = anchorStream(published.day);
    const anchor = await findInLog(published.day);
    if (anchor === undefined) {
      const detail = `${name} was published, but the log has no such anchor`;
      findings.push({ kind: 'anchor_missing', stream, detail });
    } else if (sortedJson(anchor) !== sortedJson(anchorOf(published))) {
      const detail = `${name} was published with another content: the log was rewritten since`;
      findings.push({ kind: 'anchor_mismatch', stream, revision: 0, detail });
    }
  }
  return findings;
};

const anchorOf = ({ format: _format, log: _log, ...anchor }: v.InferOutput<typeof schema>): RecordedAnchor => anchor;
