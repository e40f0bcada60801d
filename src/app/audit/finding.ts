import type { StreamName } from '../../domain/common/ids.js';
import { isEarlier, type LogPosition, type Revision } from '../../ports/event-log.js';

/** What an audit can find. Scripts of operators rely on these names (docs/operations/audit.md#when-something-is-found), so they do not change. */
export type FindingKind =
  /** Of one event. */
  | 'hash_mismatch'
  | 'broken_link'
  | 'missing_revision'
  | 'repeated_revision'
  | 'position_order'
  | 'schema'
  | 'sealing'
  | 'invariant'
  | 'duplicate'
  | 'document'
  | 'unreadable_event'
  | 'stored_otherwise'
  /** Of the log as a whole. */
  | 'missing_position'
  | 'log_end'
  | 'read_model_drift'
  | 'anchor_mismatch'
  | 'anchor_missing'
  /** Of an export. */
  | 'unreadable_file'
  | 'unreadable_line'
  | 'file_changed'
  | 'missing_manifest'
  | 'bad_manifest'
  | 'unknown_signer'
  | 'bad_signature'
  | 'head_mismatch'
  | 'missing_stream'
  | 'unknown_stream';

export type Finding = { kind: FindingKind; stream?: StreamName; revision?: Revision; detail: string };

export const findingOf = (
  { stream, revision }: { stream: StreamName; revision: Revision },
  kind: FindingKind,
  detail: string,
): Finding => ({ kind, stream, revision, detail });

/** Found when the last event of a whole log lies before the head that the log names. */
export const logEndFinding = (last: LogPosition | null, head: LogPosition | null): readonly Finding[] =>
  isEarlier(last, head)
    ? [
        {
          kind: 'log_end',
          detail: `the log says that it ends at ${head}, but its last event is at ${last ?? 'no position'}`,
        },
      ]
    : [];

/** Keeps the first findings and only counts the rest, so that memory stays bounded when every event of a log is wrong. */
export type Findings = {
  add(finding: Finding): void;
  readonly kept: readonly Finding[];
  /** All findings, kept or only counted. */
  readonly total: number;
};

export const MAX_FINDINGS = 1_000;

export const createFindings = (): Findings => {
  const kept: Finding[] = [];
  let total = 0;
  return {
    kept,
    get total() {
      return total;
    },
    add: (finding) => {
      total += 1;
      if (kept.length < MAX_FINDINGS) kept.push(finding);
    },
  };
};
