import { afterEach, beforeAll, expect, it } from 'vitest';
import type { ClosableExaminer } from '../../../src/app/audit/examiner.js';
import { verifyLog } from '../../../src/app/audit/verify-log.js';
import { toRecord } from '../../../src/domain/log/record.js';
import type { EventLog, RecordedEvent, StoredEvent } from '../../../src/ports/event-log.js';
import { openExaminingThreads } from '../../../src/runtime/operator/examining-threads.js';
import { auditHarness } from '../../support/harness/audit.js';

let events: readonly RecordedEvent[];
let examiner: ClosableExaminer;

beforeAll(async () => {
  events = await (await auditHarness()).all();
});

afterEach(() => examiner.close());

/** Small pages, so that a short log has many. */
const PAGE = 3;

/** The table of a log, with an edit in it every few rows. */
const editedTable = (): Required<Pick<EventLog, 'readAll' | 'head' | 'readStored'>> => {
  const rows: readonly StoredEvent[] = events.map((event, index) => {
    const { record, hash } = toRecord(event.stream, event.revision, event);
    const row = { ...event, record, hash };
    switch (index % 9) {
      case 2:
        return { ...row, record: record.replace(/.$/, ' ]') };
      case 5:
        return { ...row, record: record.replace('"at"', '"st"') };
      case 7:
        return { ...row, stream: 'company-99999999000191' };
      case 8:
        return { ...row, record: '{}' };
      default:
        return row;
    }
  });
  return {
    readAll: async () => [],
    head: async () => rows.at(-1)?.position ?? null,
    readStored: async ({ after }) => rows.filter(({ position }) => after === null || position > after).slice(0, PAGE),
  };
};

const verdictOf = async (by?: ClosableExaminer) => {
  const { findings, ...report } = await verifyLog(editedTable(), by === undefined ? {} : { examiner: by });
  return { ...report, found: findings.kept, total: findings.total };
};

it.each([1, 2, 3])('the verdict and its order are the same with %i threads as with none', async (threads) => {
  examiner = openExaminingThreads(threads, { ownPages: 1 });
  const alone = await verdictOf();
  expect(new Set(alone.found.map(({ kind }) => kind))).toEqual(
    new Set([
      'hash_mismatch',
      'stored_otherwise',
      'unreadable_event',
      'missing_revision',
      'anchor_mismatch',
      'invariant',
    ]),
  );
  expect(await verdictOf(examiner)).toEqual(alone);
});

it('a thread that cannot work changes no verdict', async () => {
  examiner = openExaminingThreads(1, { ownPages: 1, file: new URL('file:///nowhere/thread.js') });
  expect(await verdictOf(examiner)).toEqual(await verdictOf());
});
