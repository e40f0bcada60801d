import type { Examination } from '../../app/audit/examine.js';
import { type ClosableExaminer, type EventPage, examinePage, ownExaminer } from '../../app/audit/examiner.js';
import { entryFile } from '../../lib/entry-file.js';
import { createThreadPool } from '../../lib/thread-pool.js';

/** A thread takes this long to start, which is longer than examining so many pages. */
const OWN_PAGES = 10;

/** A page takes milliseconds; the rest is for starting a thread while every core is busy. */
const EXAMINE_WITHIN_MS = 60_000;

/** A page has at most 200 events of 256 KiB. */
const HEAP_MB = 256;

/** Most of a page lives shortly, and in a large young generation it is seldom copied. */
const YOUNG_MB = 64;

/** The walk asks for pages one by one, so they have one owner. */
const OWNER = 'audit';

/** Examines the first pages, and those that a thread fails at, in this thread: the result is the same with any number of threads. */
export const openExaminingThreads = (
  threads: number,
  {
    ownPages = OWN_PAGES,
    file = entryFile('./examining-thread', import.meta.url),
  }: { ownPages?: number; file?: URL } = {},
): ClosableExaminer => {
  if (threads === 0) return ownExaminer;
  const pool = createThreadPool<EventPage, readonly Examination[]>({
    what: 'pages of the log to be examined',
    file,
    workers: threads,
    waitMs: EXAMINE_WITHIN_MS,
    timeoutMs: EXAMINE_WITHIN_MS,
    heapMb: HEAP_MB,
    youngMb: YOUNG_MB,
  });
  let pages = 0;
  return {
    // One page more than threads, so that no thread waits for this one.
    atOnce: threads + 1,
    examine: async (page) => {
      pages += 1;
      return pages <= ownPages ? examinePage(page) : await pool.run(OWNER, page).catch(() => examinePage(page));
    },
    close: pool.close,
  };
};
