import { memoryEventLog } from '../../../src/adapters/eventlog-memory/event-log.js';
import { createEventStore, NO_STREAM } from '../../../src/app/event-store/event-store.js';
import { invoiceStream } from '../../../src/domain/shared/ids.js';
import { type EventLog, isEarlier, type LogPosition } from '../../../src/ports/event-log.js';
import type {
  AcceptedKey,
  AcceptedMark,
  GuardsLook,
  GuardsPosition,
  GuardsRecord,
} from '../../../src/ports/guards-record.js';
import { accepted, T0 } from '../../domain/invoice/fixtures.js';
import { contextAt, fixedKeys, type MovableClock, movableClock } from '../support.js';

/** R as the keeper sees it: what was put in, and what a test says of it. */
export type RecordedGuards = GuardsRecord & {
  standing: Omit<GuardsLook, 'guards' | 'operatorRows'> & GuardsPosition;
  keys: AcceptedKey[];
  marks: AcceptedMark[];
  /** Rows per call of `fill`. */
  fills: number[];
  moves: GuardsPosition[];
  setBackNotes: number;
  looks: number;
  /** Of the logs that sessions were opened for. */
  identities: string[];
  /** Ends the session that is open, as a restart of the server does. */
  lose(): void;
};

export const recordedGuards = (): RecordedGuards => {
  let open = new AbortController();
  const further = (a: LogPosition | null, b: LogPosition | null): LogPosition | null => (isEarlier(a, b) ? b : a);
  const record: RecordedGuards = {
    standing: { guards: null, operatorRows: null, furthest: null, wasSetBack: false, leads: true },
    ...{ keys: [], marks: [], fills: [], moves: [], setBackNotes: 0, looks: 0, identities: [] },
    lose: () => open.abort(),
    open: async (identity) => {
      record.identities.push(identity);
      const session = new AbortController();
      open = session;
      const alive = (): void => {
        if (session.signal.aborted) throw new Error('the session is over');
      };
      return {
        look: async () => {
          alive();
          record.looks += 1;
          return record.standing;
        },
        move: async (position) => {
          alive();
          const { guards, operatorRows } = record.standing;
          record.moves.push(position);
          record.standing.guards = further(guards, position.guards);
          record.standing.operatorRows = further(operatorRows, position.operatorRows);
        },
        fill: async (keys, marks) => {
          alive();
          record.keys.push(...keys);
          record.marks.push(...marks);
          record.fills.push(keys.length + marks.length);
          return keys.length + marks.length;
        },
        noteSetBack: async () => {
          alive();
          record.setBackNotes += 1;
          record.standing.wasSetBack = true;
        },
        lost: session.signal,
        close: async () => session.abort(),
      };
    },
  };
  return record;
};

export const acceptances = (clock: MovableClock = movableClock(T0), log: EventLog = memoryEventLog()) => {
  const store = createEventStore(log, fixedKeys());
  let count = 0;
  /** Appends an acceptance of this moment, with a key of its number. */
  const accept = async ({ keyed = true } = {}): Promise<void> => {
    count += 1;
    const invoiceId = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
    const now = clock.now();
    const key = keyed ? { idempotency: { keyHash: `key-${count}`, bodyHash: `body-${count}` } } : {};
    const event = accepted({ invoiceId, acceptedAt: now, fingerprint: `f-${count}`, ...key });
    const stream = invoiceStream('live', '12345678000195', invoiceId);
    const { ok } = await store.append(stream, NO_STREAM, [event], contextAt(now, { commandId: `command-${count}` }));
    if (!ok) throw new Error('another writer in a test of one writer');
  };
  return { log, store, clock, accept };
};
