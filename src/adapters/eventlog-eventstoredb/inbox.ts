import type { AllStreamResolvedEvent, AllStreamSubscription } from '@eventstore/db-client';
import { StreamLost, unavailable } from './faults.js';

/**
 * What a subscription has brought and nobody has taken yet. Events leave the wire at once, however busy their taker is: the
 * server ends a subscription whose events it cannot get rid of.
 */
export type Inbox = {
  /** At most `max`, in order; none when it is empty. Throws what ended the subscription once everything before was taken. */
  take(max: number): readonly AllStreamResolvedEvent[];
  /** Everything that has come was taken. */
  isEmpty(): boolean;
  /** The server has sent all there was, and all of it was taken. */
  isCaughtUp(): boolean;
  /** The server has said that the subscription stands. */
  isConfirmed(): boolean;
  /** No room was left, so the subscription was ended here; what is in the inbox can still be taken. */
  isFull(): boolean;
  /** Resolves when there is something to look at, after `ms`, or on abort. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

/** Holds at most `room` events. */
export const openInbox = (subscription: AllStreamSubscription, room: number): Inbox => {
  const waiting: AllStreamResolvedEvent[] = [];
  let failure: Error | undefined;
  let full = false;
  let caughtUp = false;
  let confirmed = false;
  let news = false;
  let wake: (() => void) | undefined;
  const ring = (): void => {
    news = true;
    wake?.();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    ring();
  };
  const end = (): void => {
    // Does not wait: a call that has not even begun can be cancelled only when it does.
    subscription.unsubscribe().catch(() => undefined);
    subscription.destroy();
  };
  const isEmpty = (): boolean => waiting.length === 0 && (full || subscription.readableLength === 0);
  subscription.on('data', (event: AllStreamResolvedEvent) => {
    if (full) return;
    waiting.push(event);
    full = waiting.length >= room;
    if (full) end();
    ring();
  });
  subscription.on('confirmation', () => {
    confirmed = true;
    ring();
  });
  subscription.on('caughtUp', () => {
    caughtUp = true;
    ring();
  });
  // Stays for ever: an error that nobody listens to would end the process.
  subscription.on('error', (error) => fail(unavailable('the event log ended a subscription', error)));
  subscription.on('end', () => fail(new StreamLost('the event log ended a subscription')));
  subscription.on('close', () => fail(new StreamLost('the event log closed a subscription')));

  return {
    take: (max) => {
      news = false;
      const taken = waiting.splice(0, max);
      if (taken.length === 0 && isEmpty() && failure !== undefined && !full) throw failure;
      return taken;
    },
    isEmpty,
    isCaughtUp: () => caughtUp && isEmpty(),
    isConfirmed: () => confirmed,
    isFull: () => full,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (news || signal.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          wake = undefined;
          signal.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        wake = done;
        signal.addEventListener('abort', done, { once: true });
      }),
    close: end,
  };
};
