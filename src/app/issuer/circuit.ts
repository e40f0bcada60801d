import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';

/** Whether an environment takes sends (ADR 17). Look-ups never ask it, and no verdict depends on it. */
export type Circuit =
  /** `failures`: sends in a row that met an outage. */
  | { state: 'closed'; failures: number }
  /** `openings`: how often in a row it has opened. `blamed`: the company whose send opened it. */
  | { state: 'open'; since: Instant; until: Instant; openings: number; blamed: string }
  /** One send is on its way to find out, until `lease` is over. */
  | { state: 'half_open'; lease: { since: Instant; until: Instant } | undefined; openings: number; blamed: string };

export const closedCircuit: Circuit = { state: 'closed', failures: 0 };

export type Admission = { kind: 'send' } | { kind: 'probe' } | { kind: 'paused'; until: Instant };

/** So many in a row are no accident; fewer would let a single bad moment stop an environment. */
const FAILURES_TO_OPEN = 5;

/** First pause and longest pause, in seconds. An invoice that waits is looked at again within the longest, well within its 15 minutes. */
const FIRST_PAUSE = 5;
const LONGEST_PAUSE = 60;

/** Whose send failed last may have trouble of its own: others go first for so many seconds. */
const OTHERS_FIRST = 10;

/** The windows that the pauses are made for, in seconds: the shortest that an invoice has. */
const SHORTEST_WINDOW = 900;

/** Those who wait would ask again and again without a pause that is worth its name. */
const LEAST_PACE = 1 / 30;

/** Which share of the pauses suits an invoice's shortest window, in seconds: a rehearsal with short windows has short pauses. */
export const paceOf = (windowSeconds: number): number =>
  Math.min(1, Math.max(LEAST_PACE, windowSeconds / SHORTEST_WINDOW));

/** Asks to send at `now`; `leaseSeconds` is longer than a send can last. */
export const admit = (
  circuit: Circuit,
  company: string,
  now: Instant,
  { leaseSeconds, pace }: { leaseSeconds: number; pace: number },
): { circuit: Circuit; admission: Admission } => {
  const paused = (until: Instant) => ({ circuit, admission: { kind: 'paused', until } as const });
  if (circuit.state === 'closed') return { circuit, admission: { kind: 'send' } };
  if (circuit.state === 'open') {
    const until = company === circuit.blamed ? addSeconds(circuit.until, OTHERS_FIRST * pace) : circuit.until;
    if (lies(now, circuit.since, until)) return paused(until);
  } else if (circuit.lease !== undefined && lies(now, circuit.lease.since, circuit.lease.until)) {
    const soon = addSeconds(now, FIRST_PAUSE * pace);
    return paused(isBefore(soon, circuit.lease.until) ? soon : circuit.lease.until);
  }
  const { openings, blamed } = circuit;
  const lease = { since: now, until: addSeconds(now, leaseSeconds) };
  return { circuit: { state: 'half_open', lease, openings, blamed }, admission: { kind: 'probe' } };
};

/** The environment answered: whatever it said about the document, it takes sends. */
export const answered = (): Circuit => closedCircuit;

/** A send met an outage. `chance` from 0 to 1 shortens the pause by up to half, so that many processes do not return at once. */
export const metOutage = (
  circuit: Circuit,
  {
    company,
    isProbe,
    now,
    chance,
    pace,
  }: { company: string; isProbe: boolean; now: Instant; chance: number; pace: number },
): Circuit => {
  const open = (openings: number): Circuit => {
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (openings - 1)) * (1 - chance / 2) * pace;
    return { state: 'open', since: now, until: addSeconds(now, pause), openings, blamed: company };
  };
  switch (circuit.state) {
    case 'closed':
      return circuit.failures + 1 < FAILURES_TO_OPEN ? { state: 'closed', failures: circuit.failures + 1 } : open(1);
    case 'half_open':
      return isProbe ? open(circuit.openings + 1) : circuit;
    case 'open':
      // Of a send that was admitted before: it is known already.
      return circuit;
  }
};

/** The probe was never sent, or what it saw says nothing of the environment: the next one may try. */
export const learnedNothing = (circuit: Circuit, isProbe: boolean): Circuit =>
  isProbe && circuit.state === 'half_open' ? { ...circuit, lease: undefined } : circuit;

/** Within [since, until); a clock that was set back ends the wait instead of prolonging it. */
const lies = (now: Instant, since: Instant, until: Instant): boolean => !isBefore(now, since) && isBefore(now, until);
