import { type DeadlineRow, handlers } from '../../projections/deadlines.js';
import type { Recorded } from '../../projections/types.js';
import { epochMs, type Instant } from '../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import type { EventLog, LogPosition } from '../../src/ports/event-log.js';
import type { OpenWork, ReadModel, Timer } from '../../src/ports/read-model.js';
import { scriptedReadModel } from '../support/harness/workers.js';

type Event = Recorded<InvoiceEvent>;
type AnyHandler = 'ignored' | ((row: DeadlineRow | undefined, event: Event) => DeadlineRow | 'delete');

const MOST_EVENTS = 100_000;

/** The timers of the sweeper, by the product's own handlers; how far they have come is for the caller to say. */
export const createTimers = (log: EventLog) => {
  const rows = new Map<string, DeadlineRow>();
  let after: LogPosition | null = null;

  const catchUp = async (): Promise<void> => {
    for (const event of await log.readAll({ prefixes: ['nfse'], after, limit: MOST_EVENTS })) {
      after = event.position;
      const handler = handlers[event.type as InvoiceEvent['type']] as AnyHandler;
      if (handler === 'ignored') continue;
      const row = handler(rows.get(event.stream), event as unknown as Event);
      if (row === 'delete') rows.delete(event.stream);
      else rows.set(event.stream, row);
    }
  };

  const timers = (): readonly (Timer & { beganAt: Instant })[] =>
    [...rows.values()].flatMap(
      ({ stream, mode, company_id: companyId, work: kind, work_since: since, started, began_at: beganAt }) =>
        kind === null || since === null || beganAt === null
          ? []
          : [{ stream, mode, companyId, kind, since, started, beganAt }],
    );

  const readModel: ReadModel = {
    ...scriptedReadModel({}).readModel,
    openWork: async ({ quietSince }) =>
      timers()
        .filter(
          ({ started, since }) => quietSince === null || since <= (started ? quietSince.started : quietSince.queued),
        )
        .map((timer): OpenWork => ({ ...timer, dueMs: epochMs(timer.beganAt) }))
        .sort(byDue),
    verdictsDue: async ({ queued = '', started = '', cancel = '' }) =>
      timers()
        .filter(({ kind, started: isStarted, beganAt }) =>
          kind === 'cancel' ? beganAt <= cancel : beganAt <= (isStarted ? started : queued),
        )
        .sort((one, other) => (one.since < other.since ? -1 : 1)),
  };
  return { catchUp, readModel };
};

const byDue = (one: OpenWork, other: OpenWork): number => one.dueMs - other.dueMs;
