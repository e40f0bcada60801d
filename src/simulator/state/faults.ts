import { randomUUID } from 'node:crypto';
import type { Mode } from '../../domain/common/ids.js';
import type { Cents } from '../../domain/common/money.js';
import type { Instant } from '../../domain/common/time.js';

export const FAULT_TARGETS = ['issue', 'lookup', 'fetch', 'event', 'event_lookup', 'event_list'] as const;
export type FaultTarget = (typeof FAULT_TARGETS)[number];

export const FAULT_KINDS = [
  'late_commit',
  'stale',
  'reject',
  'lost_after_commit',
  'lost_before_commit',
  'slow',
  'http_429',
  'http_500',
  'http_502_html',
  'http_503',
  'http_403_html',
  'http_404_html',
  'transient',
  'reset',
  'garbage',
  'missing_key',
  'casing',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export type Fault = {
  on: FaultTarget;
  kind: FaultKind;
  times: number;
  match: { cnpj?: string; amountInCents?: Cents; environment?: Mode };
  delayMs: number;
  commit?: boolean;
  code?: string;
  message?: string;
};

/** The note that a call is about, as far as the call names it. */
export type NoteConcerned = {
  cnpj?: string;
  customer?: string;
  amountInCents?: Cents;
  /** Only of a note that exists. */
  authorizedAt?: Instant;
};

/** The faults of one call. `stale` hides what the call did, so it combines with every other kind; `nth` counts the uses of `main` from 0. */
export type Taken = { main?: Fault; nth: number; stale?: Fault };

export type Faults = {
  add(fault: Fault): string;
  /** Removes all faults and returns their number. */
  clear(): number;
  /** The oldest fault that matches, and the oldest `stale` one; each loses one of its `times`. */
  take(on: FaultTarget, environment: Mode, note: NoteConcerned): Taken;
};

/** The faults ordered through the control port, in memory only. */
export const createFaults = (): Faults => {
  let open: { fault: Fault; left: number }[] = [];
  return {
    add: (fault) => {
      open.push({ fault, left: fault.times });
      return randomUUID();
    },
    clear: () => {
      const count = open.length;
      open = [];
      return count;
    },
    take: (on, environment, note) => {
      if (open.length === 0) return { nth: 0 };
      const matching = open.filter(({ fault }) => fault.on === on && matches(fault, environment, note));
      const main = matching.find(({ fault }) => fault.kind !== 'stale');
      const stale = matching.find(({ fault }) => fault.kind === 'stale');
      const nth = main === undefined ? 0 : main.fault.times - main.left;
      for (const entry of [main, stale]) if (entry !== undefined) entry.left -= 1;
      open = open.filter(({ left }) => left > 0);
      return { nth, ...(main && { main: main.fault }), ...(stale && { stale: stale.fault }) };
    },
  };
};

const matches = ({ match }: Fault, environment: Mode, note: NoteConcerned): boolean =>
  (match.environment === undefined || match.environment === environment) &&
  (match.cnpj === undefined || match.cnpj === note.cnpj) &&
  (match.amountInCents === undefined || match.amountInCents === note.amountInCents);
