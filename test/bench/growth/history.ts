import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../../../src/app/event-store/command-context.js';
import { type EventStore, NO_STREAM } from '../../../src/app/event-store/event-store.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import { dpsStream, type StreamName } from '../../../src/domain/common/ids.js';
import { addSeconds, type Instant } from '../../../src/domain/common/time.js';
import type { DpsNumberEvent } from '../../../src/domain/dps-number/events.js';
import { benchCompanies, type Owner, ownerOfPart, PART } from './companies.js';
import { pastInvoice, SERIES } from './past-invoice.js';

const DAY = 86_400;

/** Live invoices are 90 to 2 days old, in the order of the log. Test invoices are 4 to 1 days old, so that none of them ends meanwhile. */
const instantOf = (mode: Owner['mode'], share: number, now: Instant): Instant => {
  const [from, days] = mode === 'live' ? [-90, 88] : [-4, 3];
  return addSeconds(now, Math.floor((from + share * days) * DAY));
};

/** Appends that are under way at once; enough that the log always has a full batch to commit. */
const AT_ONCE = 256;

/** Of a history of `invoices`, seen at `now`, those from `from` on; the others are in the log already. */
type Stretch = { invoices: number; now: Instant; from: number; to: number };

/**
 * Appends the lives of a stretch of invoices through the event store, as the use cases do: conditional on the exact revision, personal fields
 * sealed, hashes chained.
 */
export const appendHistory = async (store: EventStore, { invoices, now, from, to }: Stretch): Promise<void> => {
  const companies = benchCompanies();
  const gate = createGate(AT_ONCE);
  const given = new Map<StreamName, number>();
  for (let made = 0; made < to; made += PART) {
    const owner = ownerOfPart(made / PART, companies);
    const at = instantOf(owner.mode, made / invoices, now);
    const series = dpsStream(owner.mode, owner.companyId, SERIES);
    const first = (given.get(series) ?? 0) + 1;
    given.set(series, first + PART - 1);
    if (made < from) continue;
    const part = Array.from({ length: PART }, (_, n) => pastInvoice(owner, first + n, at));
    const allocated = part.map(
      ({ invoiceId }, n): DomainEvent => ({
        type: 'DpsNumberAllocated',
        data: { number: first + n, nextNumber: first + n + 1, invoiceId, at },
      }),
    );
    const { version, events: last } = await store.load<DpsNumberEvent>(series, { direction: 'backwards', limit: 1 });
    // A fill that was interrupted left parts behind; the same append is then refused, because its streams exist.
    if ((last[0]?.data.nextNumber ?? 1) === first) await store.append(series, version, allocated, contextOf(owner, at));
    for (const { stream, events } of part)
      await gate.enter(async () => void (await store.append(stream, NO_STREAM, events, contextOf(owner, at))));
  }
  await gate.empty();
};

const contextOf = ({ mode, companyId }: Owner, now: Instant): CommandContext => {
  const commandId = randomUUID();
  const correlationId = `req_${commandId}`;
  return {
    commandId,
    correlationId,
    mode,
    companyId,
    now,
    causationId: correlationId,
    actor: 'worker:issuer',
    site: 'accept_invoice',
  };
};

/** At most so many tasks at once; `enter` and `empty` throw what an earlier task threw. */
const createGate = (most: number) => {
  let underWay = 0;
  let wake = (): void => undefined;
  let fault: { error: unknown } | undefined;
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached() && fault === undefined) await new Promise<void>((resolve) => (wake = resolve));
    if (fault !== undefined) throw fault.error;
  };
  return {
    enter: async (task: () => Promise<void>): Promise<void> => {
      await until(() => underWay < most);
      underWay += 1;
      void task()
        .catch((error: unknown) => {
          fault ??= { error };
        })
        .finally(() => {
          underWay -= 1;
          wake();
        });
    },
    empty: () => until(() => underWay === 0),
  };
};
