import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findAnchor } from '../../app/audit/anchor-log.js';
import { contradictedFiles, isAnchorFileName, recoveryAfter } from '../../app/audit/published-anchors.js';
import type { EventStore } from '../../app/event-store/event-store.js';
import { logRecoveries } from '../../app/recovery/recorded-recoveries.js';
import type { Check } from '../../cli/session.js';
import { counted } from '../../lib/counted.js';

/** Newest files that are compared; `audit verify --anchors` compares all of them. */
const NEWEST = 40;

/**
 * Whether the newest anchors of ANCHOR_DIR are those of the log. Anchors from before a recorded log recovery are of what the log has lost, which the
 * operator knows. Without a folder there is no check.
 */
export const anchorChecks = async (folder: string | undefined, store: EventStore): Promise<readonly Check[]> => {
  if (folder === undefined) return [];
  const name = 'published anchors';
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return [{ name, ok: true, detail: `${folder} cannot be read here` }];
  const newest = names.filter(isAnchorFileName).sort().slice(-NEWEST);
  const files = await Promise.all(
    newest.map(async (file) => ({ name: file, text: await readFile(join(folder, file), 'utf8') })),
  );
  const contradicted = await contradictedFiles(files, (day) => findAnchor(day, store));
  const recoveries = contradicted.length === 0 ? [] : await logRecoveries(store);
  const unexplained = contradicted.filter(({ at }) => recoveryAfter(at, recoveries) === undefined);
  const [first] = unexplained;
  if (first === undefined) {
    const before = contradicted.length === 0 ? '' : `; ${contradicted.length} more are of the log before its recovery`;
    const same = files.length - contradicted.length;
    return [{ name, ok: true, detail: `${counted(same, 'anchor')} in ${folder} as in the log${before}` }];
  }
  const detail = `${counted(unexplained.length, 'file')} in ${folder}: ${first.finding.detail}`;
  const cure =
    'if a backup was restored, nfse restore --mark and then nfse doctor --reconcile; else docs/operations/audit.md#when-something-is-found';
  return [{ name, ok: false, detail, cure }];
};
