import type { StreamName } from '../../domain/shared/ids.js';
import type { EventLog } from '../../ports/event-log.js';
import { type ChainHead, checkLink } from './chain.js';
import { createFindings, type Finding } from './finding.js';
import { walkLog } from './walk.js';

export type ChainReport = { streams: number; events: number; findings: readonly Finding[] };

/** The hash chains alone, of some streams or all; `verifyLog` says everything that a log can show. */
export const verifyChain = async (
  log: Pick<EventLog, 'readAll'>,
  prefixes: readonly string[],
): Promise<ChainReport> => {
  const heads = new Map<StreamName, ChainHead>();
  const findings = createFindings();
  let events = 0;
  for await (const page of walkLog(log, prefixes)) {
    for (const event of page) {
      const { finding, outOfPlace } = checkLink(event, heads.get(event.stream));
      if (finding !== undefined) findings.add(finding);
      if (outOfPlace === true) continue;
      heads.set(event.stream, { revision: event.revision, hash: event.metadata.hash ?? '' });
    }
    events += page.length;
  }
  return { streams: heads.size, events, findings: findings.kept };
};
