import { anchorStream } from '../../domain/log/audit-events.js';
import { sortedJson } from '../../domain/log/hash-text.js';
import type { Finding } from '../audit/finding.js';
import { type AnchorFile, readAnchorFile } from './anchor-file.js';
import type { StandingAnchor } from './anchor-log.js';

/** A file of the folder of published anchors, with its name for the finding. */
export type PublishedFile = { name: string; text: string };

/**
 * Published anchors against those of the log. That the log's anchors fit its events is the walk's business; together they show
 * that nothing before the last published anchor was changed since, whoever owns the database.
 */
export const compareAnchors = async (
  files: readonly PublishedFile[],
  standing: (day: string) => Promise<StandingAnchor | undefined>,
): Promise<readonly Finding[]> => {
  const findings: Finding[] = [];
  for (const { name, text } of files) {
    const published = readAnchorFile(text);
    if (published === undefined) {
      findings.push({ kind: 'anchor_mismatch', detail: `${name} is no published anchor` });
      continue;
    }
    const stream = anchorStream(published.day);
    const anchor = await standing(published.day);
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

const anchorOf = ({ format: _format, log: _log, ...anchor }: AnchorFile): StandingAnchor => anchor;
