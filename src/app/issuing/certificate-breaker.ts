import { dpsId, isCanceledAtSefin } from '../../domain/common/access-key.js';
import type { CompanyId, Mode } from '../../domain/common/ids.js';
import { addSeconds, earlierOf, epochMs, type Instant, isBefore, isWithin } from '../../domain/common/time.js';
import type { Company } from '../../domain/company/company.js';
import { MAX_DPS_NUMBER } from '../../domain/dps-number/dps-number.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Authorizer, Caller } from '../../ports/authorizer.js';
import type { CertificateRefusal, CertificateRefusals } from '../../ports/certificate-refusals.js';
import type { Clock } from '../../ports/clock.js';
import { type AuthorizerResult, aroundAuthorizer } from './around-authorizer.js';
import { pauseScaleOf } from './breaker.js';

/** A look-up that changes nothing at the authorizer, under the company's newest certificate. */
type Probe = () => Promise<unknown>;

/** The permit for one send, or when to come again. `release` is always called, also when nothing was sent. */
type CertificatePermit = { kind: 'permit'; release(): void } | { kind: 'paused'; until: Instant };

/**
 * A breaker for each company certificate and environment (ADR 47). While the authorizer refuses a certificate, its company sends nothing: no number
 * is taken and no attempt recorded. A certificate that was stored since is not held.
 */
export type CertificateBreaker = {
  /**
   * Called before an attempt is recorded. `probe` is called when a held certificate is due to be tried. A `resend` is of an invoice that has attempts
   * already.
   */
  requestPermit(caller: Caller, probe: Probe, step: 'send' | 'resend'): Promise<CertificatePermit>;
  /** The same authorizer; what its answers say of the caller's certificate is noted. Every caller of the issuing protocol uses it. */
  watch(authorizer: Authorizer): Authorizer;
};

export type CertificateChange = Pick<CertificateRefusal, 'mode' | 'companyId'> & { refused: boolean; reason?: string };

type CertificateBreakerOptions = {
  refusals: CertificateRefusals;
  clock: Clock;
  company(companyId: CompanyId): Promise<Company | undefined>;
  /** The shortest window of an invoice, in seconds; all pauses shrink with a shorter one (ADR 17). */
  shortestWindowSeconds: number;
  onChange(change: CertificateChange): void;
  onFault(error: unknown): void;
};

/** Milliseconds for which the refusals of other processes are not read again. */
const CACHE_MS = 1_000;

/** Held sends look again after this many seconds, so that a new certificate is used soon. */
const LOOK_AGAIN_SECONDS = 15;

/** A probe comes after a part of the time since the refusal, within these bounds: well within the 15 minutes of a queued invoice. */
const SHORTEST_PROBE_PAUSE_SECONDS = 15;
const LONGEST_PROBE_PAUSE_SECONDS = 300;

/** The pause of a probe that is a look-up alone, and of a probe that is a send too, which may cost an invoice; the latter doubles each time. */
const LOOK_UP_SHARE = 1 / 2;
const SEND_SHARE = 1;

/**
 * The first send of a certificate goes ahead of the company's other sends until it is answered, this long at most. So a certificate that is refused
 * from the beginning costs one send, not all that wait.
 */
const AHEAD_SECONDS = 2;
const BEHIND_SECONDS = 0.2;

/**
 * The refusals are shared with other processes by `refusals`. Which certificates were answered is known to this process only. A fault while refusals
 * or companies are read is given to `onFault`: the refusals that were known count, and a company whose certificate is unknown is not held. A permit
 * rejects when its probe cannot be claimed.
 */
export const createCertificateBreaker = (options: CertificateBreakerOptions): CertificateBreaker => {
  const { refusals, clock, onChange, onFault } = options;
  const pauseScale = pauseScaleOf(options.shortestWindowSeconds);
  const standing = standingRefusals(refusals, clock, onFault);
  /** By company and mode: the certificate under which a send of this process was answered. */
  const proven = new Map<string, string>();
  /** The send that goes before the company's other sends. */
  const ahead = new Map<string, { certificateId: string; since: Instant }>();
  /** Companies with refused sends of whose certificate a look-up was answered since the last refusal or the last probe. */
  const answered = new Set<string>();
  /** The probes of this process whose look-up was answered: one send may follow until the next probe. */
  const halfOpen = new Map<string, HalfOpen>();

  const certificateOf = async ({ companyId }: Caller): Promise<string | undefined> => {
    try {
      return (await options.company(companyId))?.certificate?.certificateId;
    } catch (error) {
      onFault(error);
      return undefined;
    }
  };

  const noteRefused = async (caller: Caller, certificateId: string, reason: string): Promise<void> => {
    const { mode, companyId } = caller;
    proven.delete(keyOf(caller));
    answered.delete(keyOf(caller));
    halfOpen.delete(keyOf(caller));
    const at = clock.now();
    const before = (await standing.all()).get(keyOf(caller));
    const isNew = before?.certificateId !== certificateId;
    const since = isNew ? at : before.since;
    const probeAt = isNew ? addSeconds(at, SHORTEST_PROBE_PAUSE_SECONDS * pauseScale) : before.probeAt;
    const refusal = { mode, companyId, certificateId, reason, probeAt };
    standing.set({ ...refusal, since, lastAt: at, seen: isNew ? 1 : before.seen + 1 });
    if (isNew) onChange({ mode, companyId, refused: true, reason });
    await refusals.save({ ...refusal, at });
  };

  const noteTaken = async (caller: Caller, certificateId: string, answer: AuthorizerResult): Promise<void> => {
    const { mode, companyId } = caller;
    const refusal = (await standing.all()).get(keyOf(caller));
    if (refusal === undefined) return;
    // A server may refuse sends alone. Then only a send that is taken shows that it has ended.
    if (isOfSends(refusal) && refusal.certificateId === certificateId && isOfLookUp(answer)) {
      answered.add(keyOf(caller));
      return;
    }
    standing.remove(caller);
    answered.delete(keyOf(caller));
    halfOpen.delete(keyOf(caller));
    onChange({ mode, companyId, refused: false });
    await refusals.remove(caller);
  };

  /** What an answer says is noted before the caller continues, so that the next send of the company knows it. A failed note changes no answer. */
  const watched = async <Answer extends AuthorizerResult>(
    caller: Caller,
    call: () => Promise<Answer>,
  ): Promise<Answer> => {
    const certificateId = await certificateOf(caller);
    const answer = await call();
    if (certificateId === undefined) return answer;
    try {
      const said = whatAnswerSays(answer);
      if (said === 'refused') await noteRefused(caller, certificateId, reasonOf(answer));
      if (said === 'taken') await noteTaken(caller, certificateId, answer);
      if (isAnsweredSend(answer)) proven.set(keyOf(caller), certificateId);
    } catch (error) {
      onFault(error);
    }
    return answer;
  };

  const held = async (
    caller: Caller,
    refusal: CertificateRefusal,
    probe: Probe,
    step: 'send' | 'resend',
  ): Promise<CertificatePermit> => {
    const key = keyOf(caller);
    const now = clock.now();
    if (mayFollow(halfOpen.get(key), refusal, step, now)) {
      halfOpen.delete(key);
      return NO_WAIT;
    }
    const nextLook = addSeconds(now, LOOK_AGAIN_SECONDS * pauseScale);
    // No pause is longer: a later probe was set before the clock was set back, and is due.
    const isFar = isBefore(addSeconds(now, LONGEST_PROBE_PAUSE_SECONDS * pauseScale), refusal.probeAt);
    const dueAt = addSeconds(refusal.probeAt, behindResends(refusal, step) * pauseScale);
    if (isBefore(now, dueAt) && !isFar) return { kind: 'paused', until: earlierOf(nextLook, dueAt) };
    const age = (epochMs(now) - epochMs(refusal.since)) / 1000;
    const pause = Math.min(
      LONGEST_PROBE_PAUSE_SECONDS * pauseScale,
      Math.max(SHORTEST_PROBE_PAUSE_SECONDS * pauseScale, age * (isOfSends(refusal) ? SEND_SHARE : LOOK_UP_SHARE)),
    );
    const probeAt = addSeconds(now, pause);
    standing.set({ ...refusal, probeAt });
    if (!(await refusals.claimProbe(caller, refusal.probeAt, probeAt))) return { kind: 'paused', until: nextLook };
    answered.delete(key);
    await probe();
    const isHeld = (await standing.all()).has(key);
    if (isHeld && answered.has(key))
      halfOpen.set(key, { certificateId: refusal.certificateId, step, since: now, until: probeAt });
    // The caller's step was decided before the look-up, so the caller decides again.
    return { kind: 'paused', until: isHeld && !halfOpen.has(key) ? nextLook : clock.now() };
  };

  const permitOf = (caller: Caller, certificateId: string): CertificatePermit => {
    const key = keyOf(caller);
    if (proven.get(key) === certificateId) return NO_WAIT;
    const now = clock.now();
    const first = ahead.get(key);
    const isBehind =
      first?.certificateId === certificateId &&
      isWithin(now, first.since, addSeconds(first.since, AHEAD_SECONDS * pauseScale));
    if (isBehind) return { kind: 'paused', until: addSeconds(now, BEHIND_SECONDS * pauseScale) };
    const mine = { certificateId, since: now };
    ahead.set(key, mine);
    return {
      kind: 'permit',
      release: () => {
        if (ahead.get(key) === mine) ahead.delete(key);
      },
    };
  };

  return {
    requestPermit: async (caller, probe, step) => {
      const certificateId = await certificateOf(caller);
      if (certificateId === undefined) return NO_WAIT;
      const refusal = (await standing.all()).get(keyOf(caller));
      return refusal?.certificateId === certificateId
        ? await held(caller, refusal, probe, step)
        : permitOf(caller, certificateId);
    },
    watch: (authorizer) => {
      const asked = aroundAuthorizer(authorizer, (_operation, caller, call) => watched(caller, call));
      return {
        ...asked,
        // The ADN answers about a note of a municipality, and what the ADN takes says nothing about Sefin.
        findCancellation: (caller, accessKey, until) =>
          (isCanceledAtSefin(accessKey, caller.companyId) ? asked : authorizer).findCancellation(
            caller,
            accessKey,
            until,
          ),
      };
    },
  };
};

/**
 * Asks for the DPS with the last number of the company's series, which no invoice has. For a document that exists, Sefin answers 403 to a good
 * certificate too when its company is no actor of the document (ADR 47). The absent DPS has no actors, so its 404 shows that the certificate is taken.
 */
export const probeCertificate = async (
  caller: Caller,
  municipality: string,
  { authorizer, company }: Pick<CertificateBreakerOptions, 'company'> & { authorizer: Pick<Authorizer, 'findByDps'> },
): Promise<void> => {
  const { mode, companyId } = caller;
  const series = (await company(companyId))?.registration.dps[mode].series;
  if (series === undefined) return;
  await authorizer.findByDps(caller, dpsId({ municipality, cnpj: companyId, series, number: MAX_DPS_NUMBER }));
};

/** `step`: whose turn it is. A resend may follow in any case. */
type HalfOpen = { certificateId: string; step: 'send' | 'resend'; since: Instant; until: Instant };

const mayFollow = (
  halfOpen: HalfOpen | undefined,
  { certificateId }: CertificateRefusal,
  step: 'send' | 'resend',
  now: Instant,
): boolean =>
  halfOpen?.certificateId === certificateId &&
  isWithin(now, halfOpen.since, halfOpen.until) &&
  (step === 'resend' || halfOpen.step === 'send');

/**
 * Seconds by which a probe comes later for the first send of an invoice where the probe is a send too, because a refused one costs that invoice an
 * hour. The resend of an attempt that is unknown already costs nothing more. After one refusal nothing can be resent for minutes, so one more invoice
 * may find out soon whether the refusal was a short one.
 */
const behindResends = (refusal: CertificateRefusal, step: 'send' | 'resend'): number => {
  if (step === 'resend' || !isOfSends(refusal)) return 0;
  return refusal.seen === 1 ? LOOK_AGAIN_SECONDS : LONGEST_PROBE_PAUSE_SECONDS;
};

const NO_WAIT: CertificatePermit = { kind: 'permit', release: () => undefined };

const keyOf = ({ mode, companyId }: { mode: Mode; companyId: CompanyId }): string => `${mode}/${companyId}`;

/**
 * A document that was judged, found or proven absent was asked for under a good certificate. Everything else may come from a server before it. A
 * look-up that is refused without a code may be about the company and not its certificate, under which sends may be taken: Sefin answers 403 to a company
 * that is no actor of a document (docs/national-system.md#operations).
 */
const whatAnswerSays = (answer: AuthorizerResult): 'refused' | 'taken' | 'nothing' => {
  switch (answer.kind) {
    case 'unknown':
      return answer.certificateRefused === true ? 'refused' : answer.refused === true ? 'taken' : 'nothing';
    case 'inconclusive':
      return answer.certificateRefused === true && answer.mayBeNoActor !== true ? 'refused' : 'nothing';
    case 'not_sent':
      return answer.certificateRefused === true ? 'refused' : 'nothing';
    default:
      return 'taken';
  }
};

const isAnsweredSend = ({ kind }: AuthorizerResult): boolean => kind === 'done' || kind === 'rejected';

const isOfLookUp = ({ kind }: AuthorizerResult): boolean => kind === 'found' || kind === 'absent';

/** With the status of a send that was refused by a page or another answer without codes. */
const reasonOf = (answer: AuthorizerResult): string => {
  if ('codes' in answer && answer.codes.length > 0) return answer.codes.join(' ');
  const status = 'httpStatus' in answer && answer.httpStatus !== undefined ? ` ${answer.httpStatus}` : '';
  return `${'reason' in answer ? answer.reason : answer.kind}${status}`;
};

/**
 * Whether sends are refused by a page or another answer without codes, while look-ups may be answered. A code of the channel or a TLS alert is about
 * every call. The reason shows that in each process.
 */
const isOfSends = ({ reason }: CertificateRefusal): boolean => / \d{3}$/.test(reason);

/**
 * The refusals of all processes, at most a second old, with those that this process has just noted. A reading that began before a change of this
 * process does not undo it. While the database cannot be read, what was known counts.
 */
const standingRefusals = (refusals: CertificateRefusals, clock: Clock, onFault: (error: unknown) => void) => {
  let known: ReadonlyMap<string, CertificateRefusal> = new Map();
  let changes = 0;
  const read = shortCache(CACHE_MS, clock, async () => {
    const before = changes;
    try {
      const rows = await refusals.all();
      if (before === changes) known = new Map(rows.map((row) => [keyOf(row), row]));
    } catch (error) {
      onFault(error);
    }
    return true;
  });
  return {
    all: async (): Promise<ReadonlyMap<string, CertificateRefusal>> => {
      await read('all');
      return known;
    },
    set: (refusal: CertificateRefusal): void => {
      changes += 1;
      known = new Map(known).set(keyOf(refusal), refusal);
    },
    remove: (caller: Caller): void => {
      changes += 1;
      known = new Map([...known].filter(([key]) => key !== keyOf(caller)));
    },
  };
};
