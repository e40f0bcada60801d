import { faultCode, isRefused } from './faults.js';
import { NatsTopologyMismatch } from './topology-mismatch.js';

/** Milliseconds for which a right that was missing counts: longer than the time after which unanswered work comes again and misses it again. */
const DENIAL_COUNTS_MS = 120_000;

/** What keeps work away, wholly or in part, while the server answers. `clear` begins a new connection. */
export const createTroubles = () => {
  const refusing = new Set<string>();
  let failedChecks = 0;
  let check: string | undefined;
  let denied: { what: string; at: number } | undefined;
  const denial = (): string | undefined =>
    denied === undefined || performance.now() - denied.at > DENIAL_COUNTS_MS
      ? undefined
      : `not permitted: ${denied.what}`;
  return {
    /** True when a failure that counted is over. */
    endCheckFailure: (): boolean => {
      const wasFailing = check !== undefined;
      failedChecks = 0;
      check = undefined;
      return wasFailing;
    },
    /** What the server refuses counts at once, and one lost round trip does not. */
    checkFailed: (error: unknown): void => {
      failedChecks += 1;
      if (error instanceof NatsTopologyMismatch) check = error.what;
      else if (isRefused(error) || failedChecks > 1) check = `streams or consumers: ${faultCode(error)}`;
    },
    wasDenied: (what: string): void => {
      denied = { what, at: performance.now() };
    },
    /** Whether a consumer refuses the requests for its messages, again and again. */
    refuses: (consumer: string, does: boolean): void => {
      if (does) refusing.add(consumer);
      else refusing.delete(consumer);
    },
    clear: (): void => {
      failedChecks = 0;
      check = denied = undefined;
      refusing.clear();
    },
    denial,
    /** Undefined while all is well. */
    worst: (): string | undefined => {
      const [consumer] = refusing;
      return check ?? denial() ?? (consumer === undefined ? undefined : `requests to the consumer ${consumer}`);
    },
  };
};

/** The subject of a missing right, without what names an invoice or one message. */
export const shownSubject = (subject: string): string => {
  const tokens = subject.split('.');
  if (subject.startsWith('$JS.ACK.')) return `${tokens.slice(0, 3).join('.')}.>`;
  if (subject.startsWith('$JS.')) return subject;
  if (subject.startsWith('_INBOX.')) return '_INBOX.>';
  return `${tokens.slice(0, -1).join('.')}.*`;
};
