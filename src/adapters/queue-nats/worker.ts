import { epochMs, type Instant } from '../../domain/common/time.js';
import { type Backoff, createBackoff } from '../../lib/backoff.js';
import { pause, settlesWithin } from '../../lib/pause.js';
import type { Clock } from '../../ports/clock.js';
import { type Delivery, type HandlingResult, laneOf, type WorkItem, type WorkQueue } from '../../ports/work-queue.js';
import { faultCode } from './faults.js';
import { createIntake, type Held } from './intake.js';
import { checkFailed, type Link, type Notify } from './link.js';
import { readItem, type WorkMessage } from './message.js';
import type { ConsumerName, Names } from './names.js';
import type { Parked } from './parked.js';
import { type PullEnd, pull } from './pull.js';

type WorkerOptions = {
  link: Link;
  names: Names;
  parked: Parked;
  ackWaitMs: number;
  heartbeatMs: number;
  endless: Endless;
  clock: Clock;
  notify: Notify;
};

/**
 * A message that was delivered more often and is older is parked without being handled, because its handler may be what ends the process. The age
 * counts too, because a look-up that waits for a permit makes many deliveries within minutes.
 */
export type Endless = { deliveries: number; seconds: number };

type Work = Parameters<WorkQueue['work']>[0];

/** Pause before a work item is handled again after its handler threw; a running handler is never cut off. */
const RETRY_AFTER_FAULT_MS = 1_000;
/** Pause before a consumer that failed is asked again; doubles, with jitter. */
const RETRY_MS = { first: 200, longest: 5_000 };
/** Requests refused in a row before a notice is given: fewer come with a move of the stream within a cluster. */
const NOTICED_REFUSALS = 5;
const FLUSH_MS = 2_000;
/** How often within `ackWaitMs` the server is informed that work continues. */
const SIGNS_OF_LIFE = 3;

/** Pulls, handles and answers until the signal aborts; then gives back at once what is not being handled. */
export const work = async (options: WorkerOptions, { concurrency, signal, handle }: Work): Promise<void> => {
  const { link, names, parked, ackWaitMs, heartbeatMs, endless, clock, notify } = options;
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
    const { item, message } = held;
    const result = isEndless(message, endless, clock.now())
      ? { kind: 'park' as const, reason: `delivered ${message.deliveries} times without an end` }
      : await handlingResult({ ...item, deliveries: message.deliveries }, handle);
    const latest = (): WorkMessage => intake.messageOf(item) ?? message;
    let again: 'keep' | 'drop' = result.kind === 'park' ? 'drop' : 'keep';
    try {
      again = await answer(result, held, latest);
    } catch (error) {
      notify({ kind: 'verdict_lost', work: item.kind, lane: laneOf(item.stream), code: faultCode(error) });
    }
    intake.finish(item, again);
  };

  /** Returns what becomes of a message that came for the same stream and kind meanwhile. */
  const answer = async (
    result: HandlingResult,
    { item }: Held,
    latest: () => WorkMessage,
  ): Promise<'keep' | 'drop'> => {
    if (result.kind === 'park') return await park(item, result.reason, latest);
    if (result.kind === 'ack') latest().ack();
    else latest().retry(result.afterMs);
    return 'keep';
  };

  const park = async (item: WorkItem, reason: string, latest: () => WorkMessage): Promise<'keep' | 'drop'> => {
    try {
      await parked.park(item, reason, latest().sequence);
    } catch (error) {
      latest().retry(RETRY_AFTER_FAULT_MS);
      throw error;
    }
    notify({ kind: 'parked', work: item.kind, stream: item.stream });
    latest().terminate();
    return (await parked.clearWork(item, latest().sequence)) ? 'keep' : 'drop';
  };

  const receive = (consumer: ConsumerName, message: WorkMessage): void => {
    const item = readItem(message.payload, message.subject, names.work);
    if (item === undefined) {
      message.terminate();
      // Another program may write any number of them.
      link.notify({ kind: 'unreadable', consumer: consumer.name });
    } else if (signal.aborted) {
      message.giveBack();
    } else {
      intake.add({ item, message });
      dispatch();
    }
  };

  const askFor = async (consumer: ConsumerName): Promise<void> => {
    const waits = createBackoff(RETRY_MS.first, RETRY_MS.longest);
    let refusals = 0;
    while (!signal.aborted) {
      const batch = intake.room(consumer.lane);
      if (batch <= 0) {
        await changed();
        continue;
      }
      const end = await askOnce(consumer, batch, waits);
      refusals = end === 'refused' ? refusals + 1 : 0;
      await followRefusals(consumer.name, refusals);
    }
    link.troubles.refuses(consumer.name, false);
  };

  const followRefusals = async (consumer: string, refusals: number): Promise<void> => {
    const isRefusing = refusals >= NOTICED_REFUSALS;
    link.troubles.refuses(consumer, isRefusing);
    if (!isRefusing) return;
    link.notify({ kind: 'requests_refused', consumer });
    const session = await link.next(signal);
    // The next check reports a failed repair, and so does `status`.
    if (session !== undefined) await link.repair(session).catch(() => undefined);
  };

  const askOnce = async (consumer: ConsumerName, batch: number, waits: Backoff): Promise<PullEnd | undefined> => {
    const session = await link.next(signal);
    if (session === undefined) return undefined;
    const onMessage = (message: WorkMessage): void => receive(consumer, message);
    try {
      const end = await pull({
        session,
        stream: names.workStream,
        consumer: consumer.name,
        batch,
        heartbeatMs,
        signal,
        onMessage,
      });
      if (end === 'over' || end === 'stopped') {
        waits.reset();
        return end;
      }
      if (end === 'missing' || end === 'silent') {
        notify({ kind: 'consumer_rebuilt', consumer: consumer.name, why: end });
        // A stream that is created while the server still deletes the old one may never wake its consumers.
        await pause(waits.next(), signal);
        if (!session.lost.aborted) await link.repair(session);
        return end;
      }
      await pause(waits.next(), signal);
      return end;
    } catch (error) {
      link.notify(checkFailed(error));
      await pause(waits.next(), signal);
      return undefined;
    }
  };

  const signs = setInterval(() => each(intake.held(), (message) => message.working()), ackWaitMs / SIGNS_OF_LIFE);
  const onAbort = (): void => {
    wakeAll();
    giveBackAll(intake.release());
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.all(names.consumers.map(askFor));
    await Promise.all(running);
    giveBackAll(intake.release());
    await answersSent(link);
  } finally {
    clearInterval(signs);
    signal.removeEventListener('abort', onAbort);
  }
};

const isEndless = ({ deliveries, storedAt }: WorkMessage, endless: Endless, now: Instant): boolean =>
  deliveries > endless.deliveries && epochMs(now) - Number(storedAt) / 1e6 >= endless.seconds * 1_000;

const handlingResult = async (delivery: Delivery, handle: Work['handle']): Promise<HandlingResult> => {
  try {
    return await handle(delivery);
  } catch {
    return { kind: 'retry', afterMs: RETRY_AFTER_FAULT_MS };
  }
};

/** A client that was closed meanwhile throws; its messages come back when their holder's time ends. */
const each = (messages: readonly WorkMessage[], tell: (message: WorkMessage) => void): void => {
  for (const message of messages) {
    try {
      tell(message);
    } catch {
      return;
    }
  }
};

const giveBackAll = (messages: readonly WorkMessage[]): void => each(messages, (message) => message.giveBack());

/** Sends the last answers, so that the process may end. What is lost with the connection comes back when its holder's time ends. */
const answersSent = async (link: Link): Promise<void> => {
  try {
    await settlesWithin(FLUSH_MS, link.session().nc.flush());
  } catch {
    return;
  }
};
