import type { OpenWork, ReadModel, Timer, TimerCursor } from '../../../src/ports/read-model.js';
import type { Delivery, HandlingResult, WorkItem, WorkQueue } from '../../../src/ports/work-queue.js';

type Asked = { [K in 'openWork' | 'verdictsDue' | 'expiredTestInvoices']: Parameters<ReadModel[K]>[] };

/** The next page, as the read model cuts it. */
const pageOf = <Cursor extends { stream: string }, Row extends Cursor>(
  rows: readonly Row[],
  limit: number,
  after: Cursor | undefined,
  orderOf: (row: Cursor) => string,
): readonly Row[] => {
  const placeOf = (row: Cursor): string => `${orderOf(row)} ${row.stream}`;
  return rows
    .filter((row) => after === undefined || placeOf(row) > placeOf(after))
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .slice(0, limit);
};

const limitOf = ({ kind, started }: Timer): 'queued' | 'started' | 'cancel' => {
  if (kind === 'cancel') return 'cancel';
  return started ? 'started' : 'queued';
};

/** A read model that returns the test's pages and records its calls. */
export const scriptedReadModel = (rows: {
  openWork?: readonly OpenWork[];
  verdictsDue?: readonly Timer[];
  expired?: readonly string[];
}): { readModel: ReadModel; asked: Asked } => {
  const asked: Asked = { openWork: [], verdictsDue: [], expiredTestInvoices: [] };
  const readModel: ReadModel = {
    invoice: async () => undefined,
    company: async () => undefined,
    companies: async () => [],
    credential: async () => undefined,
    credentialById: async () => undefined,
    apiSwitchedOff: async () => false,
    catalogLines: async () => new Map(),
    municipalityDemands: async () => undefined,
    registryEntry: async () => undefined,
    byAccessKeys: async () => [],
    openWork: async (...args) => {
      asked.openWork.push(args);
      return pageOf(rows.openWork ?? [], args[1], args[2], ({ dueMs }) => String(dueMs).padStart(16, '0'));
    },
    verdictsDue: async (...args) => {
      asked.verdictsDue.push(args);
      const due = (rows.verdictsDue ?? []).filter((row) => args[0][limitOf(row)] !== undefined);
      return pageOf(due, args[1], args[2], ({ since }: TimerCursor) => since);
    },
    expiredTestInvoices: async (...args) => {
      asked.expiredTestInvoices.push(args);
      return rows.expired ?? [];
    },
  };
  return { readModel, asked };
};

type CollectingQueue = WorkQueue & {
  items: WorkItem[];
  /** The handler of the worker that began to work. */
  handler(): (delivery: Delivery) => Promise<HandlingResult>;
  options: { concurrency: number }[];
};

/** A queue that keeps work items and delivers none; the test calls the worker's handler itself. */
export const collectingQueue = (): CollectingQueue => {
  let handle: ((delivery: Delivery) => Promise<HandlingResult>) | undefined;
  const queue: CollectingQueue = {
    items: [],
    options: [],
    put: async (item) => {
      queue.items.push(item);
    },
    work: async (options) => {
      queue.options.push({ concurrency: options.concurrency });
      handle = options.handle;
    },
    depth: async () => queue.items.length,
    parked: async () => ({ work: [], count: 0 }),
    isParked: async () => false,
    retryParked: async () => false,
    handler: () => {
      if (handle === undefined) throw new Error('nobody works');
      return handle;
    },
  };
  return queue;
};
