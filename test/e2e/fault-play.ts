import { workOnCancellation } from '../../src/app/issuing/cancellation.js';
import type { IssuerDeps, Next } from '../../src/app/issuing/deps.js';
import { workOnIssue } from '../../src/app/issuing/note.js';
import { loadInvoice } from '../../src/app/read/read-invoice.js';
import { invoiceStream, type StreamName } from '../../src/domain/common/ids.js';
import { brasiliaDate, type Instant, isBefore } from '../../src/domain/common/time.js';
import { requestCancellation } from '../../src/domain/invoice/request-cancellation.js';
import type { Invoice } from '../../src/domain/invoice/state.js';
import { DEMO_CNPJ } from '../support/fixture/demo.js';
import { accepted } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { CUSTOMER } from '../support/harness/simulator.js';
import { type CallCounts, type FaultHarness, IssuerDied } from './fault-harness.js';
import { isCanceledIn, type Plan } from './fault-kinds.js';

/** One invoice under way, and the instant of its next delivery; undefined when nothing is left to do. */
export type Played = {
  plan: Plan;
  amountInCents: number;
  stream: StreamName;
  calls: CallCounts;
  issuer: IssuerDeps;
  work: 'issue' | 'cancel';
  due: Instant | undefined;
  deaths: number;
};

/** What others do to a note of ours before we cancel it. */
export type BeforeCancel = (one: Played, accessKey: string) => Promise<void>;

const LANES = 12;

/** Accepts one invoice for each plan and lets time go on until nothing is left to do about any, nor under way at the authorizer. */
export const play = async (
  harness: FaultHarness,
  plans: readonly Plan[],
  firstAmount: number,
  beforeCancel: BeforeCancel = async () => undefined,
): Promise<readonly Played[]> => {
  const all: Played[] = [];
  for (const [index, plan] of plans.entries()) all.push(await begin(harness, plan, firstAmount + index));
  for (;;) {
    const open = all.flatMap(({ due }) => (due === undefined ? [] : [due]));
    const next = [...open, ...[harness.timers.next() ?? []].flat()].sort()[0];
    if (next === undefined) return all;
    harness.clock.moveTo(next);
    harness.timers.fire();
    const now = harness.clock.now();
    const due = all.filter((one) => one.due !== undefined && !isBefore(now, one.due));
    const lane = async (): Promise<void> => {
      for (let one = due.shift(); one !== undefined; one = due.shift()) await look(harness, one, beforeCancel);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }
};

const begin = async (harness: FaultHarness, plan: Plan, amountInCents: number): Promise<Played> => {
  const now = harness.clock.now();
  const invoiceId = `00000000-0000-4000-8000-${String(amountInCents).padStart(12, '0')}`;
  const stream = invoiceStream('test', DEMO_CNPJ, invoiceId);
  const event = accepted({
    mode: 'test',
    invoiceId,
    amountInCents,
    acceptedAt: now,
    competence: brasiliaDate(now),
    customer: { type: 'br', document: CUSTOMER, name: 'CLIENTE FICTICIO' },
    line: { cnae: '6201501', serviceCode: '010101', nbs: '115022000' },
  });
  await appendTo(harness.store, stream, [event], now);
  for (const fault of plan.faults) await harness.order(fault, amountInCents);
  const calls = { sends: 0, lookUps: 0, eventSends: 0, eventLookUps: 0 };
  const issuer = harness.startIssuer(calls, plan.dies, patienceFor(plan));
  return { plan, amountInCents, stream, calls, issuer, work: 'issue', due: now, deaths: 0 };
};

const patienceFor = ({ faults }: Plan): 'long' | 'short' =>
  faults.some(({ kind }) => kind === 'slow') ? 'short' : 'long';

/** One delivery of the queue. After a process dies, the next one knows only the log and the database. */
const look = async (harness: FaultHarness, one: Played, beforeCancel: BeforeCancel): Promise<void> => {
  const works = { issue: workOnIssue, cancel: workOnCancellation };
  const next = await works[one.work](one.stream, one.issuer).catch((error: unknown): Next => {
    if (!(error instanceof IssuerDied)) throw error;
    one.deaths += 1;
    one.issuer = harness.startIssuer(one.calls, undefined, patienceFor(one.plan));
    return { kind: 'later', at: harness.clock.now() };
  });
  if (next.kind === 'park') throw new Error(next.reason);
  one.due = next.kind === 'later' ? next.at : await afterwards(harness, one, beforeCancel);
};

/** An invoice that is issued is canceled where the plan has faults for that. */
const afterwards = async (
  harness: FaultHarness,
  one: Played,
  beforeCancel: BeforeCancel,
): Promise<Instant | undefined> => {
  const invoice = await invoiceOf(harness, one);
  if (one.work === 'cancel' || !isCanceledIn(one.plan) || invoice.outcome.status !== 'issued') return undefined;
  await beforeCancel(one, invoice.outcome.accessKey ?? '');
  const now = harness.clock.now();
  const decision = requestCancellation(invoice, { now });
  if ('refused' in decision) throw new Error(decision.refused);
  await appendTo(harness.store, one.stream, decision.events, now);
  one.work = 'cancel';
  return now;
};

export const invoiceOf = async ({ store }: FaultHarness, { stream }: Pick<Played, 'stream'>): Promise<Invoice> => {
  const { state } = await loadInvoice(stream, store);
  if (state.kind !== 'invoice') throw new Error('the stream holds no invoice');
  return state;
};
