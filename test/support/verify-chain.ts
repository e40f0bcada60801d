import { type ChainHead, checkLink } from '../../src/app/audit/chain.js';
import { hashOf } from '../../src/app/audit/examine.js';
import { createFindings, type Finding } from '../../src/app/audit/finding.js';
import { walkLog } from '../../src/app/event-store/walk-log.js';
import type { StreamName } from '../../src/domain/common/ids.js';
import type { EventLog } from '../../src/ports/event-log.js';

type ChainReport = { streams: number; events: number; findings: readonly Finding[] };

/** Checks the hash chains alone, of some streams or all; `verifyLog` checks everything that a log can show. */
export const verifyChain = async (
  log: Pick<EventLog, 'readAll'>,
  prefixes: readonly string[],
): Promise<ChainReport> => {
  const heads = new Map<StreamName, ChainHead>();
  const findings = createFindings();
  let events = 0;
  for await (const page of walkLog(log, prefixes)) {
    for (const event of page) {
      const { finding, notAfterHead } = checkLink(
        { ...event, isHashed: hashOf(event) === event.metadata.hash },
        heads.get(event.stream),
        false,
      );
      if (finding !== undefined) findings.add(finding);
      if (notAfterHead === true) continue;
      heads.set(event.stream, { revision: event.revision, hash: event.metadata.hash ?? '' });
    }
    events += page.length;
  }
  return { streams: heads.size, events, findings: findings.kept };
};
