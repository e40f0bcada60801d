import type { Deadline, ReadModel } from '../../src/ports/read-model.js';
import type { Delivery, Tap, Verdict, WorkQueue } from '../../src/ports/work-queue.js';

type Asked = { [K in 'openWork' | 'verdictsDue' | 'expiredTestInvoices']: Parameters<ReadModel[K]>[] };

/** A read model that answers what the test says, and remembers what it was asked. */
export const scriptedReadModel = (rows: {
  openWork?: readonly Deadline[];
  verdictsDue?: readonly Deadline[];
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
      return rows.openWork ?? [];
    },
    verdictsDue: async (...args) => {
      asked.verdictsDue.push(args);
      return rows.verdictsDue ?? [];
    },
    expiredTestInvoices: async (...args) => {
      asked.expiredTestInvoices.push(args);
      return rows.expired ?? [];
    },
  };
  return { readModel, asked };
};

export type CollectingQueue = WorkQueue & {
  taps: Tap[];
  /** The handler of the worker that began to work. */
  handler(): (delivery: Delivery) => Promise<Verdict>;
  options: { concurrency: number; kinds: readonly Tap['kind'][] }[];
};

/** Keeps what is put and hands nothing out; the test calls the worker's handler itself. */
export const collectingQueue = (): CollectingQueue => {
  let handle: ((delivery: Delivery) => Promise<Verdict>) | undefined;
  const queue: CollectingQueue = {
    taps: [],
    options: [],
    put: async (tap) => {
      queue.taps.push(tap);
    },
    work: async (options) => {
      queue.options.push({ concurrency: options.concurrency, kinds: options.kinds });
      handle = options.handle;
    },
    depth: async () => queue.taps.length,
    parked: async () => [],
    retryParked: async () => false,
    handler: () => {
      if (handle === undefined) throw new Error('nobody works');
      return handle;
    },
  };
  return queue;
};
