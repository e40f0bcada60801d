import type { Mode } from '../../domain/common/ids.js';
import { addSeconds, earlierOf, type Instant, isBefore, isWithin } from '../../domain/common/time.js';
import type { Caller, LookupResult, SendResult } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';

/**
 * The look-up of a send that met an outage, under any company's certificate. It changes nothing at the authorizer. A company that is no actor of the
 * note gets 403, which is an answer too. A look-up by the company of that send alone would leave the breaker open where the connections of this one
 * company break.
 */
export type Probe = (caller: Caller) => Promise<LookupResult<unknown>>;

/** The permit for one send. `report` takes its result; `release` is always called, also when nothing was sent. */
export type Permit = {
  kind: 'permit';
  report(result: SendResult<unknown>, probe: Probe): void;
  release(): void;
};

/** What is sent: notes, or events of notes. The authorizer may be out for one of them alone, because each has separate paths. */
export type Resource = 'notes' | 'events';

export const resources: readonly Resource[] = ['notes', 'events'];

export type Breaker = {
  /** Called before an attempt is recorded, so that a paused caller has lost nothing and comes again at `until`. */
  requestPermit(caller: Caller, resource: Resource): Promise<Admitted>;
  /**
   * Whether the environment answers about notes, as far as is known: no outage, or a look-up was answered since. Calls that can wait check this
   * first. Events that are out alone hold back none of these calls.
   */
  isAnswering(mode: Mode): boolean;
  /**
   * Makes the look-ups that no held-back send makes, so that an outage also ends while nothing is sent. Does nothing for notes or events unless their
   * breaker is open and its pause is over. A look-up that is not answered holds back no send.
   */
  probeWithoutSend(mode: Mode): Promise<void>;
};

type Admitted = Permit | { kind: 'paused'; until: Instant };

export type BreakerChange = {
  mode: Mode;
  resource: Resource;
  from: BreakerState['state'];
  to: BreakerState['state'];
  until?: Instant;
  /** The only company whose sends are held back; absent when those of all companies are. */
  company?: string;
};

type BreakerOptions = {
  clock: Clock;
  /** Longer than a probe or a send can last after its admission. */
  leaseSeconds: number;
  /** The shortest window of an invoice, in seconds. A rehearsal with shorter windows than the contract has shorter pauses. */
  shortestWindowSeconds: number;
  /** A random number from 0 to 1. */
  chance(): number;
  onChange(change: BreakerChange): void;
};

/** `sender`: whose send met the outage. */
type KeptProbe = { sender: Caller; lookUp: Probe };

/**
 * Look-ups of the last sends that met an outage. The last of them is the next probe, and stays last while it is answered. `answered`: a probe was
 * answered since the last outage, so that a send may be the next probe.
 */
type ProbeState = { probes: readonly KeptProbe[]; answered: boolean };

const NO_PROBES: ProbeState = { probes: [], answered: false };

const PROBES_KEPT = 5;

/** Paused callers come back spread over this many seconds. */
const SPREAD_SECONDS = 5;

/**
 * A breaker for the notes and one for the events of each environment, in the memory of this process. They save attempts, and losing their state costs
 * a few attempts (ADR 17).
 */
export const createBreaker = (options: BreakerOptions): Breaker => {
  const breakers = { notes: breakerOf('notes', options), events: breakerOf('events', options) };
  return {
    requestPermit: (caller, resource) => breakers[resource].requestPermit(caller),
    isAnswering: (mode) => breakers.notes.isAnswering(mode),
    probeWithoutSend: async (mode) => {
      await Promise.all(resources.map((resource) => breakers[resource].probeWithoutSend(mode)));
    },
  };
};

type ResourceBreaker = Omit<Breaker, 'requestPermit'> & { requestPermit(caller: Caller): Promise<Admitted> };

const breakerOf = (resource: Resource, options: BreakerOptions): ResourceBreaker => {
  const { clock, leaseSeconds, chance, onChange } = options;
  const pauseScale = pauseScaleOf(options.shortestWindowSeconds);
  const states: Record<Mode, BreakerState> = { live: closedBreaker, test: closedBreaker };
  const probing: Record<Mode, ProbeState> = { live: NO_PROBES, test: NO_PROBES };
  /** Answers to sends so far. */
  const answers: Record<Mode, number> = { live: 0, test: 0 };
  /** When the last look-up without a send began, and whether it is under way. */
  const unsent: Record<Mode, { since: Instant | undefined; isUnderWay: boolean }> = {
    live: { since: undefined, isUnderWay: false },
    test: { since: undefined, isUnderWay: false },
  };

  const setState = (mode: Mode, to: BreakerState): void => {
    const from = states[mode];
    states[mode] = to;
    if (to.state === 'closed' && to.failures === 0) probing[mode] = NO_PROBES;
    if (from.state === to.state && isForOne(from) === isForOne(to)) return;
    onChange({
      mode,
      resource,
      from: from.state,
      to: to.state,
      ...(to.state === 'open' ? { until: to.until } : {}),
      ...(to.state !== 'closed' && to.others !== undefined ? { company: to.blamed } : {}),
    });
  };

  const recordOutage = (
    { mode, companyId: company }: Caller,
    of: { isProbe: boolean; isContradicted: boolean },
  ): void => setState(mode, onOutage(states[mode], { company, ...of, now: clock.now(), chance: chance(), pauseScale }));

  const permitFor = (caller: Caller, isProbe: boolean): Permit => {
    const { mode } = caller;
    const answersBefore = answers[mode];
    let reported = false;
    return {
      kind: 'permit',
      report: (result, probe) => {
        reported = true;
        const answered = (): void => {
          answers[mode] += 1;
          setState(mode, onAnswer(states[mode], caller.companyId));
        };
        if (result.kind === 'done' || result.kind === 'rejected') return answered();
        if (result.outage === true) {
          const isContradicted = answers[mode] !== answersBefore;
          recordOutage(caller, { isProbe, isContradicted });
          // That the send of another company is found does not show that those which are held back are taken.
          if (isUnheld(states[mode], caller.companyId)) return;
          const probes = [...probing[mode].probes, { sender: caller, lookUp: probe }].slice(-PROBES_KEPT);
          probing[mode] = { probes, answered: false };
          return;
        }
        // Codes about the caller or the document come from an environment that works.
        const isAnswer = result.kind === 'unknown' ? result.codes.length > 0 : result.certificateRefused === true;
        if (isAnswer) answered();
        else setState(mode, releaseProbe(states[mode], isProbe));
      },
      release: () => {
        if (!reported) setState(mode, releaseProbe(states[mode], isProbe));
      },
    };
  };

  /** The next probe is another look-up, so that one document that cannot be looked up does not hold back all sends. */
  const postpone = (mode: Mode, probe: KeptProbe): void => {
    const others = probing[mode].probes.filter((other) => other !== probe);
    probing[mode] = { probes: [probe, ...others], answered: false };
  };

  /** A look-up costs nothing, but an attempt that meets an outage may cost its invoice an hour. So the look-up is the first probe. */
  const probeFirst = async (caller: Caller, probe: KeptProbe): Promise<Instant> => {
    const answer = await probe.lookUp(caller).catch(() => undefined);
    if (answer?.kind === 'inconclusive' && answer.outage === true) {
      postpone(caller.mode, probe);
      recordOutage(caller, { isProbe: true, isContradicted: false });
    } else {
      probing[caller.mode] = { ...probing[caller.mode], answered: true };
      // A found document was accepted, so the environment takes sends and only its answer was lost.
      setState(caller.mode, answer?.kind === 'found' ? closedBreaker : releaseProbe(states[caller.mode], true));
    }
    const state = states[caller.mode];
    // The caller's step was decided before the look-up and is outdated: the caller decides again, and may send then.
    return state.state === 'open' ? state.until : clock.now();
  };

  return {
    isAnswering: (mode) => {
      const state = states[mode];
      if (state.state === 'closed' || state.others?.answered === true) return true;
      return state.state === 'half_open' && probing[mode].answered;
    },
    requestPermit: async (caller) => {
      const asked = admit(states[caller.mode], caller.companyId, clock.now(), { leaseSeconds, pauseScale });
      setState(caller.mode, asked.state);
      const { admission } = asked;
      if (admission.kind === 'paused') {
        return { kind: 'paused', until: addSeconds(admission.until, SPREAD_SECONDS * pauseScale * chance()) };
      }
      const isProbe = admission.kind === 'probe';
      const { probes, answered: isAnswered } = probing[caller.mode];
      const probe = isProbe && !isAnswered ? probes.at(-1) : undefined;
      return probe === undefined
        ? permitFor(caller, isProbe)
        : { kind: 'paused', until: await probeFirst(caller, probe) };
    },
    probeWithoutSend: async (mode) => {
      const state = states[mode];
      const probe = probing[mode].probes.at(-1);
      if (state.state !== 'open' || probe === undefined || unsent[mode].isUnderWay) return;
      const now = clock.now();
      const { since } = unsent[mode];
      // Sends that wait come first, also those of the company whose send failed last.
      const isPaused = isWithin(now, state.since, addSeconds(state.until, BLAMED_EXTRA_SECONDS * pauseScale));
      if (
        isPaused ||
        (since !== undefined && isWithin(now, since, addSeconds(since, LONGEST_PAUSE_SECONDS * pauseScale)))
      )
        return;
      unsent[mode] = { since: now, isUnderWay: true };
      const answer = await probe.lookUp(probe.sender).catch(() => undefined);
      unsent[mode] = { since: now, isUnderWay: false };
      // Meanwhile a send has probed, which knows more.
      if (states[mode] !== state) return;
      if (answer === undefined || answer.kind === 'inconclusive') return postpone(mode, probe);
      probing[mode] = { ...probing[mode], answered: true };
      setState(mode, answer.kind === 'found' ? closedBreaker : onLookUpAnswered(state));
    },
  };
};

/**
 * State of the breaker of one environment for notes or for events (ADR 17). Look-ups and verdicts do not depend on it. An outage that only one company
 * has met holds back the sends of this company alone, so that answers to one company which fail or hang stop no other company.
 */
export type BreakerState =
  | ({ state: 'closed' } & Row)
  /** `openings`: how often in a row the breaker has opened. `blamed`: the company whose send opened it. */
  | ({ state: 'open'; since: Instant; until: Instant; openings: number } & Held)
  /** At most one probe is under way, until `lease` is over. */
  | ({ state: 'half_open'; lease: { since: Instant; until: Instant } | undefined; openings: number } & Held);

/** Sends in a row that met an outage: how many of them count, and whose they were. */
type Row = { failures: number; companies: readonly string[] };

/** `others`: the sends of other companies, while only those of the blamed company are held back; undefined when those of all are. */
type Held = { blamed: string; others: Others | undefined };

/** `answered`: the last of these sends that was reported was answered. */
type Others = Row & { answered: boolean };

const NO_ROW: Row = { failures: 0, companies: [] };

const isForOne = (state: BreakerState): boolean => state.state !== 'closed' && state.others !== undefined;

/** Whether the company is another one than that whose sends alone are held back. */
const isUnheld = (state: BreakerState, company: string): boolean =>
  state.state !== 'closed' && state.others !== undefined && state.blamed !== company;

export const closedBreaker: BreakerState = { state: 'closed', ...NO_ROW };

type Admission = { kind: 'send' } | { kind: 'probe' } | { kind: 'paused'; until: Instant };

/** With fewer failures in a row, one short disturbance would stop the sends of all companies. */
const FAILURES_TO_OPEN = 5;

const FIRST_PAUSE_SECONDS = 5;
/** A waiting invoice is tried again within this pause, well within its 15 minutes. */
const LONGEST_PAUSE_SECONDS = 60;

/** The company whose send failed last may be the cause of the failure, so other companies go first for this many seconds. */
const BLAMED_EXTRA_SECONDS = 10;

/** The shortest window of the contract, for which the pauses are made. */
const SHORTEST_WINDOW_SECONDS = 900;

/** The least share of the pauses, so that waiting invoices do not ask in a tight loop. */
const LEAST_PAUSE_SCALE = 1 / 30;

/** The share of the pauses, from 1/30 to 1, for this shortest window of an invoice, in seconds. */
export const pauseScaleOf = (windowSeconds: number): number =>
  Math.min(1, Math.max(LEAST_PAUSE_SCALE, windowSeconds / SHORTEST_WINDOW_SECONDS));

/** A company that has not asked for so long has no send that waits. It may have left, and then none of its sends would ever end the pause. */
const FORGOTTEN_AFTER_SECONDS = 86_400;

/** Whether only one company is held back, and has asked for nothing for a day, while the others are answered. */
const isForgotten = (state: BreakerState, now: Instant): boolean =>
  state.state === 'open' &&
  state.others?.answered === true &&
  isBefore(addSeconds(state.until, FORGOTTEN_AFTER_SECONDS), now);

/** Whether a company may send at `now`. `leaseSeconds` is longer than a send can last. */
export const admit = (
  state: BreakerState,
  company: string,
  now: Instant,
  { leaseSeconds, pauseScale }: { leaseSeconds: number; pauseScale: number },
): { state: BreakerState; admission: Admission } => {
  const paused = (until: Instant) => ({ state, admission: { kind: 'paused', until } as const });
  if (state.state === 'closed' || isUnheld(state, company))
    return { state: isForgotten(state, now) ? closedBreaker : state, admission: { kind: 'send' } };
  if (state.state === 'open') {
    const until = company === state.blamed ? addSeconds(state.until, BLAMED_EXTRA_SECONDS * pauseScale) : state.until;
    if (isWithin(now, state.since, until)) return paused(until);
  } else if (state.lease !== undefined && isWithin(now, state.lease.since, state.lease.until)) {
    return paused(earlierOf(addSeconds(now, FIRST_PAUSE_SECONDS * pauseScale), state.lease.until));
  }
  const { openings, blamed, others } = state;
  const lease = { since: now, until: addSeconds(now, leaseSeconds) };
  return { state: { state: 'half_open', lease, openings, blamed, others }, admission: { kind: 'probe' } };
};

/** A send was answered, so such sends are taken, whatever the answer says of the document. Sends of others do not show that those held back are taken. */
export const onAnswer = (state: BreakerState, company: string): BreakerState => {
  if (state.state === 'closed' || !isUnheld(state, company)) return closedBreaker;
  return state.others?.answered === true ? state : { ...state, others: { ...NO_ROW, answered: true } };
};

/** A look-up was answered while nothing was sent. It does not show that the environment takes sends, so the next send is a probe. */
const onLookUpAnswered = ({ openings, blamed, others }: BreakerState & { state: 'open' }): BreakerState => ({
  state: 'half_open',
  lease: undefined,
  openings,
  blamed,
  others,
});

/**
 * A send met an outage. `isContradicted`: another send was answered while this one was under way, so the environment is not out for all. `chance` from 0
 * to 1 shortens the pause by up to half, so that many processes do not return at once.
 */
export const onOutage = (
  state: BreakerState,
  outage: {
    company: string;
    isProbe: boolean;
    isContradicted: boolean;
    now: Instant;
    chance: number;
    pauseScale: number;
  },
): BreakerState => {
  const { company, isProbe, isContradicted, now, chance, pauseScale } = outage;
  const open = (openings: number, others: Others | undefined): BreakerState => {
    const pause =
      Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (openings - 1)) * (1 - chance / 2) * pauseScale;
    return { state: 'open', since: now, until: addSeconds(now, pause), openings, blamed: company, others };
  };
  /** A contradicted outage counts once for each company: most of a row are then of a company or two, unless the environment is out for many. */
  const longer = ({ failures, companies: before }: Row): Row => {
    const companies = before.includes(company) ? before : [...before, company];
    return { failures: isContradicted ? Math.max(failures, companies.length) : failures + 1, companies };
  };
  if (state.state !== 'closed' && state.others !== undefined && isUnheld(state, company)) {
    if (isContradicted && state.others.companies.includes(company)) return state;
    const row = longer(state.others);
    return row.failures < FAILURES_TO_OPEN ? { ...state, others: { ...row, answered: false } } : open(1, undefined);
  }
  switch (state.state) {
    case 'closed': {
      const row = longer(state);
      const isOfOne = row.companies.length === 1;
      // All outages count against their own company.
      const failures = isOfOne ? state.failures + 1 : row.failures;
      if (failures < FAILURES_TO_OPEN) return { state: 'closed', failures, companies: row.companies };
      return open(1, isOfOne ? { ...NO_ROW, answered: false } : undefined);
    }
    case 'half_open':
      return isProbe ? open(state.openings + 1, state.others) : state;
    case 'open':
      // The send was admitted before the breaker opened, so this outage is known already.
      return state;
  }
};

/** The probe was not sent, or its result says nothing of the environment: the next send may probe. */
export const releaseProbe = (state: BreakerState, isProbe: boolean): BreakerState =>
  isProbe && state.state === 'half_open' ? { ...state, lease: undefined } : state;
