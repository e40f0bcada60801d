import { TooDeep } from '../../domain/log/hash-text.js';
import type { RecordedEvent, StoredEvent } from '../../ports/event-log.js';
import { readEventLine } from './event-line.js';
import { type Examination, examineEvent, examineStored } from './examine.js';

/** Events in one of the forms in which a log or an export gives them. */
export type EventPage =
  | { form: 'events'; items: readonly RecordedEvent[] }
  | { form: 'rows'; items: readonly StoredEvent[] }
  | { form: 'lines'; items: readonly string[] };

/** Examines each event of a page by itself, in this thread or in others; an examination for each item, in their order. */
export type Examiner = {
  examine(page: EventPage): Promise<readonly Examination[]>;
  /** Pages that are worth examining at the same time. */
  atOnce: number;
};

/** An examiner with threads, which end with `close`. */
export type ClosableExaminer = Examiner & { close(): Promise<void> };

export const examinePage = (page: EventPage): readonly Examination[] => {
  switch (page.form) {
    case 'events':
      return page.items.map(examineRead);
    case 'rows':
      return page.items.map(examineStored);
    case 'lines':
      return page.items.map((line) => {
        const event = readEventLine(line);
        return event === undefined ? { event, fault: undefined } : examineRead(event);
      });
  }
};

const examineRead = (event: RecordedEvent): Examination => {
  try {
    return { event: examineEvent(event), fault: undefined };
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return { event: undefined, fault: error.message };
  }
};

/** Examines in the calling thread. */
export const ownExaminer: ClosableExaminer = {
  examine: async (page) => examinePage(page),
  atOnce: 1,
  close: async () => undefined,
};

/**
 * The items of each page with their examinations, in the order of the pages; further pages are examined meanwhile. When the pages end with an error,
 * it is thrown after the pages before it.
 */
export async function* examined<Item>(
  pages: AsyncIterable<readonly Item[]>,
  toPage: (items: readonly Item[]) => EventPage,
  { examine, atOnce }: Examiner,
): AsyncGenerator<{ items: readonly Item[]; examinations: readonly Examination[] }, void, void> {
  const underWay: { items: readonly Item[]; examinations: Promise<readonly Examination[]> }[] = [];
  let failure: { error: unknown } | undefined;
  try {
    for await (const items of pages) {
      const examinations = examine(toPage(items));
      // Thrown when the consumer reaches the page, which it may never do.
      examinations.catch(() => undefined);
      underWay.push({ items, examinations });
      const next = underWay.length < atOnce ? undefined : underWay.shift();
      if (next !== undefined) yield { items: next.items, examinations: await next.examinations };
    }
  } catch (error) {
    failure = { error };
  }
  for (const { items, examinations } of underWay) yield { items, examinations: await examinations };
  if (failure !== undefined) throw failure.error;
}
