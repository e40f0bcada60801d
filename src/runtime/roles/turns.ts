import { createFairSemaphore, createPresence, type FairSemaphore, type Presence } from '../../lib/fair-semaphore.js';
import { settlesWithin } from '../../lib/pause.js';

/** An engine that answers nothing holds all places. A flood of as many tasks as may wait gets its turns within this time while engines answer. */
const LONGEST_WAIT = { longestWaitMs: 30_000 };

/** Limits per process. A company may use `perOwner` while others are present; its other requests wait, at most `waitingPerOwner`. */
const COMMANDS = { what: 'commands', atOnce: 1_024, perOwner: 2, perOwnerAlone: 64, rests: true, waitingPerOwner: 512 };
const READS = { what: 'reads', atOnce: 256, perOwner: 2, perOwnerAlone: 32, rests: true, waitingPerOwner: 512 };
/** The downloads of one company hold fewer reads than the log has connections for readers. */
const DOWNLOADS = { what: 'documents to be read', atOnce: 6, perOwner: 2, rests: true, waitingPerOwner: 128 };

/** Issues that the process works on at the same time. */
export const CONCURRENT_ISSUES = 64;
/** The queue gives a company so many issues of each mode. */
const BESIDE_CLIENTS = { what: 'issues', atOnce: 2, perOwner: 2, waitingPerOwner: 2 * CONCURRENT_ISSUES };
/** Work that takes longer waits for an answer of the simulator, and takes no cores meanwhile. */
const HOLDS_A_PLACE_MS = 500;

/** Gives work its turn, so that one company cannot slow down the others (ADR 29). */
export type Turns = {
  commands: FairSemaphore;
  /** Does not wait for commands. */
  reads: FairSemaphore;
  /** For reading the events of an invoice whose document is asked for. */
  downloads: FairSemaphore;
  /** Companies that made a request by key or asked for a document. */
  presence: Presence;
  /**
   * For work on issues of the company that takes the cores which serve clients: while several companies are present, two at once. Each frees its place
   * after half a second, so that answers which come late hold up no other company.
   */
  issues<T>(company: string, task: () => Promise<T>): Promise<T>;
};

/** A company that only reads counts as present among the writers too, because all use one process and one database. */
export const createTurns = (): Turns => {
  const presence = createPresence();
  const besideClients = createFairSemaphore(BESIDE_CLIENTS);
  return {
    commands: createFairSemaphore({ ...COMMANDS, ...LONGEST_WAIT, presence }),
    reads: createFairSemaphore({ ...READS, ...LONGEST_WAIT, presence }),
    downloads: createFairSemaphore({ ...DOWNLOADS, ...LONGEST_WAIT, presence }),
    presence,
    issues: async (company, task) => {
      if (presence.isAlone()) return await task();
      const { work } = await besideClients(company, async () => {
        const begun = task();
        await settlesWithin(HOLDS_A_PLACE_MS, begun);
        return { work: begun };
      });
      return await work;
    },
  };
};
