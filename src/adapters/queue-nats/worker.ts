import { type Delivery, type Verdict, type WorkQueue, WorkQueueUnavailable } from '../../ports/work-queue.js';
import { type Backoff, createBackoff } from '../../waiting/backoff.js';
import { pause, settlesWithin } from '../../waiting/pause.js';
import { faultCode } from './faults.js';
import { createIntake, type Held } from './intake.js';
import type { Link } from './link.js';
import { readTap, type WorkMessage } from './message.js';
import { type ConsumerName, laneOf, type Names } from './names.js';
import type { Notify } from './notices.js';
import type { Parked } from './parked.js';
import { pull } from './pull.js';

export type WorkerOptions = {
  link: Link;
  names: Names;
  parked: Parked;
  ackWaitMs: number;
  heartbeatMs: number;
  /** More deliveries than this of one message park it without being handled: its handler may be what kills us. */
  maxDeliveries: number;
  notify: Notify;
};

type Work = Parameters<WorkQueue['work']>[0];

/** A worker that holds its tap longer than this after a failure tries again; work itself is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;
/** Before a consumer that failed is asked again; doubles, with jitter. */
const RETRY_MS = { first: 200, longest: 5_000 };
const FLUSH_MS = 2_000;
/** So often within the holder's time the server hears that the work goes on. */
const SIGNS_OF_LIFE = 3;

/** Pulls, handles and answers until the signal aborts; then what is not in hand goes back at once. */
export const work = async (options: WorkerOptions, { kinds, concurrency, signal, handle }: Work): Promise<void> => {
  const { link, names, parked, ackWaitMs, heartbeatMs, maxDeliveries, notify } = options;
  if (signal.aborted) return;
  const intake = createIntake(concurrency);
  const running = new Set<Promise<void>>();
  const waiters = new Set<() => void>();

  const wakeAll = (): void => {
    for (const wake of waiters) wake();
    waiters.clear();
  };
  const changed = (): Promise<void> => new Promise((resolve) => waiters.add(resolve));

  const dispatch = (): void => {
    while (!signal.aborted) {
      const held = intake.take();
      if (held === undefined) break;
      const task: Promise<void> = finish(held).finally(() => {
        running.delete(task);
        dispatch();
      });
      running.add(task);
    }
    wakeAll();
  };

  const finish = async (held: Held): Promise<void> => {
    const { tap, message } = held;
    const { deliveries } = message;
    const about = { work: tap.kind, lane: laneOf(tap.stream) };
    notify({ kind: 'delivered', ...about, deliveries });
    const verdict = await verdictOn({ ...tap, deliveries }, handle, maxDeliveries);
    const latest = (): WorkMessage => intake.messageOf(tap) ?? message;
    try {
      await answer(verdict, held, latest);
      notify({ kind: 'concluded', ...about, verdict: verdict.kind });
    } catch (error) {
      notify({ kind: 'verdict_lost', ...about, code: faultCode(error) });
    }
    intake.finish(tap, verdict.kind === 'park' ? 'drop' : 'keep');
  };

  const answer = async (verdict: Verdict, { tap }: Held, latest: () => WorkMessage): Promise<void> => {
    if (verdict.kind === 'ack') return latest().ack();
    if (verdict.kind === 'retry') return latest().retry(verdict.afterMs);
    try {
      await parked.park(tap, verdict.reason, latest().sequence);
    } catch (error) {
      latest().retry(RETRY_AFTER_FAULT_MS);
      throw error;
    }
    latest().terminate();
    await parked.clearWork(tap);
  };

  const receive = (consumer: ConsumerName, message: WorkMessage): void => {
    const tap = readTap(message.payload);
    if (tap === undefined) {
      message.terminate();
      notify({ kind: 'unreadable', consumer: consumer.name });
    } else if (signal.aborted) {
      message.giveBack();
    } else {
      intake.add({ tap, message });
      dispatch();
    }
  };

  const askFor = async (consumer: ConsumerName): Promise<void> => {
    const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
    while (!signal.aborted) {
      const batch = intake.room(consumer.lane);
      if (batch > 0) await askOnce(consumer, batch, waits);
      else await changed();
    }
  };

  const askOnce = async (consumer: ConsumerName, batch: number, waits: Backoff): Promise<void> => {
    const session = await link.next(signal);
    if (session === undefined) return;
    try {
      const onMessage = (message: WorkMessage): void => receive(consumer, message);
      const end = await pull({
        session,
        stream: names.workStream,
        consumer: consumer.name,
        batch,
        heartbeatMs,
        signal,
        onMessage,
      });
      if (end === 'over' || end === 'stopped') return waits.reset();
      if (end === 'missing' || end === 'silent') {
        notify({ kind: 'consumer_rebuilt', consumer: consumer.name, why: end });
        // A stream made anew while the server still deletes the old one may never wake its consumers.
        await pause(waits.next(), signal);
        if (!session.lost.aborted) await link.repair(session);
        return;
      }
    } catch (error) {
      notify({ kind: 'topology_failed', code: faultCode(error) });
    }
    await pause(waits.next(), signal);
  };

  const signs = setInterval(() => tellAll(intake.held()), ackWaitMs / SIGNS_OF_LIFE);
  const onAbort = (): void => {
    wakeAll();
    giveBackAll(intake.release());
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.all(names.consumers.filter(({ kind }) => kinds.includes(kind)).map(askFor));
    await Promise.all(running);
    giveBackAll(intake.release());
    await answersSent(link);
  } finally {
    clearInterval(signs);
    signal.removeEventListener('abort', onAbort);
  }
};

const verdictOn = async (delivery: Delivery, handle: Work['handle'], maxDeliveries: number): Promise<Verdict> => {
  if (delivery.deliveries > maxDeliveries) {
    return { kind: 'park', reason: `delivered ${delivery.deliveries} times without an end` };
  }
  try {
    return await handle(delivery);
  } catch {
    return { kind: 'retry', afterMs: RETRY_AFTER_FAULT_MS };
  }
};

/** A client that was closed under us throws; its messages come back when their holder's time is over. */
const each = (messages: readonly WorkMessage[], tell: (message: WorkMessage) => void): void => {
  for (const message of messages) {
    try {
      tell(message);
    } catch {
      return;
    }
  }
};

const tellAll = (messages: readonly WorkMessage[]): void => each(messages, (message) => message.working());
const giveBackAll = (messages: readonly WorkMessage[]): void => each(messages, (message) => message.giveBack());

/** So that a process may end after its last verdict; without a connection there is nothing to wait for. */
const answersSent = async (link: Link): Promise<void> => {
  try {
    await settlesWithin(FLUSH_MS, link.session().nc.flush());
  } catch (error) {
    if (!(error instanceof WorkQueueUnavailable)) throw error;
  }
};
