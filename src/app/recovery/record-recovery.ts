import type { AccessKey } from '../../domain/common/access-key.js';
import { present } from '../../domain/common/present.js';
import { appendAudit } from '../audit/audit-trail.js';
import type { RecoveryDeps } from './ask-series.js';
import { holdCompanies } from './hold-companies.js';
import { heldCompanies } from './recorded-recoveries.js';
import { heldAfter, type RecoveryReport } from './recover-log.js';

/** Of the access keys in one event, which holds at most some 64 KB of them. */
const MOST_KEYS = 1_000;

/**
 * Records that the comparison is done and which companies it holds. Issuing may resume after that, unless this returns why it stays paused: a held
 * company was enabled meanwhile. Throws what the log throws, and `StreamContended`.
 */
export const recordRecovery = async (
  report: Pick<RecoveryReport, 'series' | 'skipped' | 'unknown'>,
  deps: Pick<RecoveryDeps, 'store' | 'clock' | 'actor'>,
): Promise<string | undefined> => {
  const held = heldAfter(report, await heldCompanies(deps.store));
  const facts = present({
    unknownNotes: report.unknown.length,
    accessKeys: newlyAccepted(report.unknown).slice(0, MOST_KEYS),
    heldCompanies: held.length === 0 ? undefined : held,
  });
  await appendAudit('LogRecovered', facts, deps);
  return await holdCompanies(held, deps);
};

/** Without notes of test mode, which need no acceptance, and without those of an earlier recovery, which would take the place of new ones. */
const newlyAccepted = (unknown: RecoveryReport['unknown']): readonly AccessKey[] =>
  unknown.flatMap(({ mode, accepted, accessKey }) => (mode === 'test' || accepted !== undefined ? [] : [accessKey]));
