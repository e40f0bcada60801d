import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findAnchor, type RecordedAnchor } from '../../app/audit/anchor-log.js';
import { contradictedFiles, isAnchorFileName, recoveryAfter } from '../../app/audit/published-anchors.js';
import type { EventStore } from '../../app/event-store/event-store.js';
import { ageOfLog } from '../../app/read/lag.js';
import { logRecoveries } from '../../app/recovery/recorded-recoveries.js';
import type { Check } from '../../cli/session.js';
import { addSeconds, DAY_SECONDS, epochMs, type UtcDay, utcDay } from '../../domain/common/time.js';
import { counted } from '../../lib/counted.js';
import { errorCode } from '../../lib/error-code.js';
import type { Clock } from '../../ports/clock.js';
import type { EventLog } from '../../ports/event-log.js';

/** Newest files that are compared; `audit verify --anchors` compares all of them. */
const NEWEST = 40;

/** The log is anchored each day. An anchor or a file that is older shows that this fails. */
const STALE_DAYS = 2;

/** Each sweep writes the file of the day where it is missing, and sweeps are at most an hour apart. */
const WRITTEN_WITHIN_S = 2 * 3_600;

type AnchorParts = {
  /** ANCHOR_DIR. */
  folder: string | undefined;
  store: EventStore;
  log: Pick<EventLog, 'readAll'>;
  clock: Clock;
  /** A process with the role sweeper runs, so that the log should be anchored. */
  isSwept: boolean;
};

/** Whether the log is anchored, and with ANCHOR_DIR whether its newest files are there and are the anchors of the log. */
export const anchorChecks = async (parts: AnchorParts): Promise<readonly Check[]> => {
  const { folder } = parts;
  const recent = await recentAnchors(parts);
  return [
    ...(parts.isSwept ? [await logCheck(recent, parts)] : []),
    ...(folder === undefined ? [] : [await publishedCheck(folder, recent, parts)]),
  ];
};

/** Seconds since the day of the newest anchor began, in the log and in the folder; the age of the log where there is none. */
export const anchorAges = async (
  parts: Omit<AnchorParts, 'isSwept'>,
): Promise<readonly { place: 'log' | 'folder'; seconds: number }[]> => {
  const { folder, log, clock } = parts;
  const ageOf = async (day: string | undefined): Promise<number> =>
    day === undefined
      ? await ageOfLog(log, clock)
      : Math.max(0, (epochMs(clock.now()) - Date.parse(`${day}T00:00:00Z`)) / 1000);
  const [newest] = await recentAnchors(parts);
  const inLog = { place: 'log' as const, seconds: await ageOf(newest?.day) };
  if (folder === undefined) return [inLog];
  const file = (await anchorFileNames(folder).catch(() => [])).at(-1);
  return [inLog, { place: 'folder', seconds: await ageOf(file && dayOf(file)) }];
};

/** The anchors of the last days, the newest first. */
const recentAnchors = async ({ store, clock }: Pick<AnchorParts, 'store' | 'clock'>) => {
  const days = Array.from({ length: STALE_DAYS + 1 }, (_, back) =>
    utcDay(addSeconds(clock.now(), -back * DAY_SECONDS)),
  );
  const found = await Promise.all(days.map((day) => findAnchor(day, store)));
  return found.filter((anchor) => anchor !== undefined);
};

/** `recent`: the anchors of the last days, the newest first. Without any, only a log that has no older event is as it should be. */
const logCheck = async (
  [newest]: readonly RecordedAnchor[],
  { log, clock }: Pick<AnchorParts, 'log' | 'clock'>,
): Promise<Check> => {
  const name = 'anchors';
  if (newest !== undefined) return { name, ok: true, detail: `the newest of the log is of ${newest.day}` };
  const ok = (await ageOfLog(log, clock)) <= STALE_DAYS * DAY_SECONDS;
  const detail = ok ? 'the log is not anchored yet' : 'the log was not anchored for two days';
  const cure = 'read the log of the process with the role sweeper: the log was not anchored';
  return { name, ok, detail, cure: ok ? undefined : cure };
};

/** Anchors from before a log recovery are of what was lost, as the operator knows. Before the first anchor the folder may be missing. */
const publishedCheck = async (
  folder: string,
  recent: readonly RecordedAnchor[],
  { store, clock, isSwept }: Pick<AnchorParts, 'store' | 'clock' | 'isSwept'>,
): Promise<Check> => {
  const name = 'published anchors';
  const files = await newestFiles(folder);
  if ('code' in files) {
    if (files.code === 'ENOENT' && recent.length === 0) return { name, ok: true, detail: `${folder} is not there yet` };
    const cure = files.code === 'ENOENT' ? CURE_OF_MISSING : CURE_OF_FOLDER;
    return { name, ok: false, detail: `${folder} cannot be read (${files.code})`, cure };
  }
  const contradicted = await contradictedFiles(files.read, (day) => findAnchor(day, store));
  const recoveries = contradicted.length === 0 ? [] : await logRecoveries(store);
  const unexplained = contradicted.filter(({ at }) => recoveryAfter(at, recoveries) === undefined);
  const [first] = unexplained;
  if (first !== undefined) {
    const detail = `${counted(unexplained.length, 'file')} in ${folder}: ${first.finding.detail}`;
    const cure =
      'if a backup was restored, nfse restore --mark and then nfse doctor --reconcile; else docs/operations/audit.md#when-something-is-found';
    return { name, ok: false, detail, cure };
  }
  const due = utcDay(addSeconds(clock.now(), -STALE_DAYS * DAY_SECONDS));
  const newest = files.read.map((file) => dayOf(file.name)).at(-1);
  const isEmptied =
    newest === undefined && isSwept && recent.some(({ at }) => at < addSeconds(clock.now(), -WRITTEN_WITHIN_S));
  if (isEmptied || (recent.some(({ day }) => day === due) && (newest ?? '') < due)) {
    const since = newest === undefined ? 'holds no anchor' : `holds no anchor after that of ${newest}`;
    return {
      name,
      ok: false,
      detail: `${folder} ${since}, and the log has ${newest === undefined ? 'some' : 'later ones'}`,
      cure: CURE_OF_FOLDER,
    };
  }
  const before = contradicted.length === 0 ? '' : `; ${contradicted.length} more are of the log before its recovery`;
  const same = files.read.length - contradicted.length;
  return { name, ok: true, detail: `${counted(same, 'anchor')} in ${folder} as in the log${before}` };
};

const CURE_OF_FOLDER =
  'let doctor and the process with the role sweeper have the same ANCHOR_DIR, which that process may write and doctor may read; its log says what failed';

const CURE_OF_MISSING =
  'mount or make the folder ANCHOR_DIR, the same for doctor and the process with the role sweeper, which then writes the newest anchor there; where it cannot, its log says so';

/** In the order of their names, which is that of their days; or why they cannot be read. */
const newestFiles = async (folder: string) => {
  try {
    const names = (await anchorFileNames(folder)).slice(-NEWEST);
    return {
      read: await Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') }))),
    };
  } catch (error) {
    return { code: errorCode(error) ?? 'unknown fault' };
  }
};

const anchorFileNames = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter(isAnchorFileName).sort();

const dayOf = (fileName: string): UtcDay => fileName.slice('anchor-'.length, 'anchor-YYYY-MM-DD'.length);
