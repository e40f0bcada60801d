import type { AllStreamResolvedEvent, AllStreamSubscription } from '@eventstore/db-client';
import { EventLogUnavailable } from '../../ports/event-log.js';

/** What a subscription has brought and nobody has taken yet; the server waits while it is full. */
export type Inbox = {
  /** At most `max`, in order; none when it is empty. Throws what ended the subscription once everything before was taken. */
  take(max: number): readonly AllStreamResolvedEvent[];
  /** The server has sent all there was, and all of it was taken. */
  isCaughtUp(): boolean;
  /** The server has said that the subscription stands. */
  isConfirmed(): boolean;
  /** Resolves when there is something to look at, after `ms`, or on abort. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
};

export const openInbox = (subscription: AllStreamSubscription): Inbox => {
  let failure: Error | undefined;
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
  subscription.on('readable', ring);
  subscription.on('confirmation', () => {
    confirmed = true;
    ring();
  });
  subscription.on('caughtUp', () => {
    caughtUp = true;
    ring();
  });
  // Stays for ever: an error that nobody listens to would end the process.
  subscription.on('error', fail);
  subscription.on('end', () => fail(new EventLogUnavailable('the event log ended a subscription')));
  subscription.on('close', () => fail(new EventLogUnavailable('the event log closed a subscription')));

  return {
    take: (max) => {
      news = false;
      const taken: AllStreamResolvedEvent[] = [];
      while (taken.length < max) {
        const event: AllStreamResolvedEvent | null = subscription.read();
        if (event === null) break;
        taken.push(event);
      }
      if (taken.length === 0 && failure !== undefined) throw failure;
      return taken;
    },
    isCaughtUp: () => caughtUp && subscription.readableLength === 0,
    isConfirmed: () => confirmed,
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
    close: () => {
      // Does not wait: a call that has not even begun can be cancelled only when it does.
      subscription.unsubscribe().catch(() => undefined);
      subscription.destroy();
    },
  };
};
