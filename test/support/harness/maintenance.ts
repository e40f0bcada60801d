import { randomUUID } from 'node:crypto';
import { type BreakerChange, createBreaker } from '../../../src/app/issuing/breaker.js';
import type { IssuerDeps } from '../../../src/app/issuing/deps.js';
import { concludeIssueIfDue, workOnIssue } from '../../../src/app/issuing/note.js';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import { invoiceStream, type StreamName } from '../../../src/domain/common/ids.js';
import { addSeconds, epochMs, type Instant, isBefore } from '../../../src/domain/common/time.js';
import type { InvoiceEvent, ReadInvoiceEvent } from '../../../src/domain/invoice/events.js';
import { lastSignal, sentCount } from '../../../src/domain/invoice/state.js';
import { invoiceStatus } from '../../../src/domain/invoice/status.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import { DEMO_CNPJ } from '../fixture/demo.js';
import { accepted, T0 } from '../fixture/invoice.js';
import { appendTo } from './event-store.js';
import { type FakeAuthorizer, noteFor } from './fake-authorizer.js';
import { issuingHarness } from './issuing.js';

export type Window = { from: Instant; until: Instant };
/** What the authorizer does during the outage; `commits` registers every second note and still answers 503. */
type Maintenance = 'page' | 'refused' | 'commits';

const SWEEP_SECONDS = 30;

type WindowEnd = {
  stream: StreamName;
  status: string;
  notes: number;
  createdAt: Instant;
  lastEvent: ReadInvoiceEvent;
  bytesLeft: number;
  lastSignal: Instant | undefined;
  /** Between the instant that a verdict by time names and its recording. */
  overdueSeconds: number;
};

type MaintenanceHarness = {
  sweepSeconds: number;
  changes: readonly BreakerChange[];
  /** Streams, each accepted when its time comes. */
  acceptEvery(count: number, from: Instant, seconds: number): readonly StreamName[];
  runUntil(end: Instant): Promise<void>;
  ends(): Promise<readonly WindowEnd[]>;
  sendsWithin(window: Window): number;
  lookUpsWithin(window: Window): number;
};

/** A worker, a sweeper and an authorizer that is out during the window; a queue that delivers at the moment it was asked for. */
export const maintenanceHarness = async ({
  window,
  kind,
}: {
  window: Window;
  kind: Maintenance;
}): Promise<MaintenanceHarness> => {
  const changes: BreakerChange[] = [];
  const { deps: given, store, clock, authorizer } = await issuingHarness('live');
  const calls: { at: Instant; is: 'send' | 'look-up' }[] = [];
  const deps: IssuerDeps = {
    ...given,
    authorizer: outWithin(window, kind, authorizer, () => clock.now(), calls),
    breaker: createBreaker({
      clock,
      leaseSeconds: 65,
      shortestWindowSeconds: 900,
      onChange: (change) => changes.push(change),
      chance: repeatableChance(),
    }),
  };
  const plan = new Map<StreamName, { event: InvoiceEvent; at: Instant }>();
  const looks = new Map<StreamName, Instant>();
  const endedAt = new Map<StreamName, Instant>();

  const look = async (stream: StreamName): Promise<void> => {
    const next = await workOnIssue(stream, deps);
    if (next.kind === 'park') throw new Error(next.reason);
    if (next.kind === 'later') looks.set(stream, next.at);
    else end(stream);
  };
  const end = (stream: StreamName): void => {
    looks.delete(stream);
    if (!endedAt.has(stream)) endedAt.set(stream, clock.now());
  };
  const sweep = async (): Promise<void> => {
    for (const stream of [...looks.keys()]) {
      await concludeIssueIfDue(stream, deps);
      if ((await loadInvoice(stream, store)).events.some(({ type }) => VERDICTS.has(type))) end(stream);
    }
  };

  const dueFirst = (): { at: Instant; run(): Promise<void> } | undefined => {
    const acceptances = [...plan].map(([stream, { event, at }]) => ({
      at,
      run: async () => {
        plan.delete(stream);
        await appendTo(store, stream, [event], clock.now());
        await look(stream);
      },
    }));
    const deliveries = [...looks].map(([stream, at]) => ({ at, run: () => look(stream) }));
    return [...acceptances, ...deliveries].sort((a, b) => epochMs(a.at) - epochMs(b.at))[0];
  };

  return {
    sweepSeconds: SWEEP_SECONDS,
    changes,
    acceptEvery: (count, from, seconds) =>
      Array.from({ length: count }, (_, nth) => {
        const invoiceId = randomUUID();
        const at = addSeconds(from, nth * seconds);
        const stream = invoiceStream('live', DEMO_CNPJ, invoiceId);
        plan.set(stream, { event: accepted({ invoiceId, acceptedAt: at, reference: invoiceId }), at });
        return stream;
      }),
    runUntil: async (end) => {
      let nextSweep = clock.now();
      while (isBefore(clock.now(), end)) {
        const next = dueFirst();
        const at = next === undefined || isBefore(nextSweep, next.at) ? nextSweep : next.at;
        clock.moveTo(at);
        if (at === nextSweep) {
          await sweep();
          nextSweep = addSeconds(nextSweep, SWEEP_SECONDS);
        } else await next?.run();
      }
    },
    ends: () =>
      Promise.all(
        [...endedAt].map(async ([stream, recordedAt]) => {
          const { state, events } = await loadInvoice(stream, store);
          const lastEvent = events.at(-1);
          if (state.kind !== 'invoice' || lastEvent === undefined) throw new Error('the stream holds no invoice');
          const ids = new Set(state.attempts.map(({ dpsId }) => dpsId));
          const failedAt = 'failedAt' in lastEvent.data ? lastEvent.data.failedAt : recordedAt;
          return {
            stream,
            lastEvent,
            status: invoiceStatus(state),
            createdAt: state.facts.createdAt ?? T0,
            notes: authorizer.notes.filter(({ dpsId }) => ids.has(dpsId)).length,
            bytesLeft: sentCount(state.attempts),
            lastSignal: lastSignal(state.attempts),
            overdueSeconds: (epochMs(recordedAt) - epochMs(failedAt)) / 1000,
          };
        }),
      ),
    sendsWithin: (within) => countWithin(calls, 'send', within),
    lookUpsWithin: (within) => countWithin(calls, 'look-up', within),
  };
};

const VERDICTS: ReadonlySet<string> = new Set(['NotProcessed', 'IssuanceFailed', 'IssuanceInterrupted']);

const countWithin = (calls: readonly { at: Instant; is: string }[], is: string, { from, until }: Window): number =>
  calls.filter((call) => call.is === is && !isBefore(call.at, from) && isBefore(call.at, until)).length;

/** As the adapter tells a maintenance window. */
const outWithin = (
  { from, until }: Window,
  kind: Maintenance,
  authorizer: FakeAuthorizer,
  now: () => Instant,
  calls: { at: Instant; is: 'send' | 'look-up' }[],
): Authorizer => {
  const isOut = (): boolean => !isBefore(now(), from) && isBefore(now(), until);
  let sends = 0;
  return {
    ...authorizer,
    sendDps: async (caller, bytes, deadlineAt) => {
      calls.push({ at: now(), is: 'send' });
      if (!isOut()) return authorizer.sendDps(caller, bytes, deadlineAt);
      if (kind === 'refused') {
        const refused = { reason: 'ECONNREFUSED', codes: [] };
        return { kind: 'not_sent', ...refused, outage: true };
      }
      sends += 1;
      if (kind === 'commits' && sends % 2 === 1) authorizer.notes.push(noteFor(bytes, authorizer.notes.length + 1));
      return { kind: 'unknown', reason: 'no_json', codes: [], httpStatus: 503, outage: true };
    },
    findByDps: async (caller, dpsId) => {
      calls.push({ at: now(), is: 'look-up' });
      if (!isOut()) return authorizer.findByDps(caller, dpsId);
      return { kind: 'inconclusive', reason: kind === 'refused' ? 'ECONNREFUSED' : 'no_json_503', outage: true };
    },
  };
};

/** From 0 to 1, the same in each run. */
const repeatableChance = (): (() => number) => {
  let turn = 0;
  return () => {
    turn += 1;
    return ((turn * 7) % 11) / 11;
  };
};
