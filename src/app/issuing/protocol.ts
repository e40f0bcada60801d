import type { StreamName } from '../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import { unreachable } from '../../domain/common/unreachable.js';
import { stale } from '../../domain/invoice/decision.js';
import type { InvoiceEvent } from '../../domain/invoice/events.js';
import { ATTEMPT_LOST } from '../../domain/invoice/send-decisions.js';
import type { SendStep } from '../../domain/invoice/send-steps.js';
import type { SendResult } from '../../ports/authorizer.js';
import { SchemaViolation } from '../../ports/documents.js';
import { workerContext } from '../event-store/command-context.js';
import type { LoadedStream } from '../event-store/event-store.js';
import { loadInvoice, loadSealedInvoice } from '../read/read-invoice.js';
import type { Permit } from './breaker.js';
import { decideAndAppend } from './decide-and-append.js';
import { done, type IssuerDeps, type Next, sendNotice } from './deps.js';
import { lastLookUpUntil, withLookUpPermit } from './look-up-limit.js';
import { existsUnread, lookUp, NOTHING_SEEN, progressOf, recordLookUp, type Shown } from './record-look-up.js';
import { recordResult } from './record-result.js';
import type { Job, LookedUp, OpenWork, Prepared, Seen, SendDefinition, Sending } from './send-definition.js';

/** The append may take this long. After a slower append the attempt is given up before a byte is sent. */
export const APPEND_GRACE_SECONDS = 5;

/** Pause before the next try when only an operator can remove an obstacle, and while a recording fails. */
const OBSTACLE_PAUSE_SECONDS = 30;

/** Takes the work as far as possible now (docs/architecture.md#never-twice). Safe to call at any time, by any number of workers. */
export const workOn = async <K extends Sending>(
  definition: SendDefinition<K>,
  stream: StreamName,
  deps: IssuerDeps,
): Promise<Next> => {
  const job = { definition, stream, deps };
  for (;;) {
    const loaded = await loadInvoice(stream, deps.store);
    const work = definition.workOf(loaded);
    if (work === undefined) return loaded.events.length === 0 ? { kind: 'unknown' } : done;
    const progress = await progressOf(job, work);
    const step = definition.nextStep(loaded.state, deps.clock.now(), deps.limits, progress);
    const next = await take(job, { stream, loaded, work }, step);
    if (next !== 'reload') return next;
  }
};

const take = async <K extends Sending>(
  job: Job<K>,
  open: OpenWork<K>,
  step: SendStep<K['send'], K['verdict'], K['unsent']>,
): Promise<Next | 'reload'> => {
  const caller = job.definition.callerOf(open.work);
  switch (step.do) {
    case 'nothing':
      return done;
    case 'wait':
      return { kind: 'later', at: step.until };
    case 'send':
    case 'resend':
      return await sendWithPermit(job, open, step);
    case 'look_up':
      // A stop waits for the work in hand, and a look-up may take two time limits.
      if (job.deps.stopping?.aborted) return { kind: 'later', at: job.deps.clock.now() };
      return await withLookUpPermit(job.deps, caller, async (): Promise<'reload'> => {
        await recordLookUp(job, open, step.send, await lookUp(job, open.work, step.send));
        return 'reload';
      });
    case 'conclude': {
      if (mayPause(job.deps)) return whenPauseIsSeen(job.deps);
      const concludeNow = () => conclude(job, step, lastLookUpUntil(job.deps.clock.now()));
      return await (step.lookUpFirst === undefined ? concludeNow() : withLookUpPermit(job.deps, caller, concludeNow));
    }
    default:
      return unreachable(step);
  }
};

/** For the sweep: records a verdict of time that is due, and never sends. The look-up before the verdict ends at `lookUpUntil`. */
export const concludeIfDue = async <K extends Sending>(
  definition: SendDefinition<K>,
  stream: StreamName,
  deps: IssuerDeps,
  lookUpUntil: Instant,
): Promise<void> => {
  const { state } = await loadSealedInvoice(stream, deps.store);
  const step = definition.nextStep(state, deps.clock.now(), deps.limits, { asked: 0 });
  if (step.do === 'conclude') await conclude({ definition, stream, deps }, step, lookUpUntil);
};

/** Whether issuing pauses, or may have to: a pause that another process is about to record is not seen yet. */
const mayPause = ({ pausing, wasAway }: IssuerDeps): boolean => pausing?.aborted === true || wasAway?.() === true;

/** The log may have lost an attempt that left a note. Without that attempt, time would call the invoice failed. */
const IN_PAUSE = stale('issuing is paused');

type Conclusion<K extends Sending> = { verdict: K['verdict']; lookUpFirst?: LookedUp<K> };

const conclude = async <K extends Sending>(
  job: Job<K>,
  { verdict, lookUpFirst }: Conclusion<K>,
  lookUpUntil: Instant,
): Promise<Next | 'reload'> => {
  const { definition, stream, deps } = job;
  // Taken before the look-up: an attempt that begins during the look-up moves the verdict and needs another last look-up.
  const now = deps.clock.now();
  const last = lookUpFirst === undefined ? NOTHING_SEEN : await lastLookUp(job, lookUpFirst, lookUpUntil);
  // What was recorded changes the state.
  if (last.isRecorded) return 'reload';
  const isOver = await decideAndAppend(stream, definition.sites.conclude, deps, (state) =>
    mayPause(deps) ? IN_PAUSE : definition.decideVerdict(state, verdict, now, deps.limits, last.seen),
  );
  return isOver || last.seen === undefined ? 'reload' : afterPause(deps);
};

/** The last look-up before a verdict. Its failure does not prevent the verdict. */
const lastLookUp = async <K extends Sending>(job: Job<K>, of: LookedUp<K>, until: Instant): Promise<Shown> => {
  const { definition, stream, deps } = job;
  let seen: Seen;
  try {
    const loaded = await loadInvoice(stream, deps.store);
    const work = definition.workOf(loaded);
    if (work === undefined) return NOTHING_SEEN;
    const answer = await lookUp(job, work, of, until);
    if (answer.result.kind === 'found') seen = definition.ownerOf(work, answer.result.found);
    if (existsUnread(answer.result)) seen = 'unknown';
    return await recordLookUp(job, { stream, loaded, work }, of, answer);
  } catch (error) {
    const detail = error instanceof Error ? error.name : 'not an error';
    sendNotice(deps, { kind: 'last_look_up_failed', stream, detail });
    return { isRecorded: false, seen };
  }
};

type SendNow<K extends Sending> = Extract<SendStep<K['send'], K['verdict']>, { do: 'send' | 'resend' }>;

/** While the environment is out or refuses the company's certificate, nothing is recorded and no number is taken. */
const sendWithPermit = async <K extends Sending>(
  job: Job<K>,
  open: OpenWork<K>,
  step: SendNow<K>,
): Promise<Next | 'reload'> => {
  const { definition, deps } = job;
  if (deps.stopping?.aborted) return { kind: 'later', at: deps.clock.now() };
  if (mayPause(deps)) return whenPauseIsSeen(deps);
  const caller = definition.callerOf(open.work);
  const certificatePermit = await deps.certificates.requestPermit(caller, () => definition.probe(open, deps), step.do);
  if (certificatePermit.kind === 'paused') return { kind: 'later', at: certificatePermit.until };
  try {
    const permit = await deps.breaker.requestPermit(caller, definition.resource);
    if (permit.kind === 'paused') return { kind: 'later', at: permit.until };
    try {
      return await recordAndSend(job, open, step, permit);
    } finally {
      permit.release();
    }
  } finally {
    certificatePermit.release();
  }
};

/** Records the attempt with its exact bytes, and sends them once, only if that append was ours (docs/architecture.md#never-twice). */
const recordAndSend = async <K extends Sending>(
  job: Job<K>,
  open: OpenWork<K>,
  step: SendNow<K>,
  permit: Permit,
): Promise<Next | 'reload'> => {
  const { definition, stream, deps } = job;
  const { loaded, work } = open;
  const key = definition.keyOf(work, step.attempt);
  const prepared = await (step.do === 'resend'
    ? definition.storedDocument(open, step.of, deps)
    : newDocument(job, open, key));
  if (prepared.kind === 'halted') return prepared.next;
  const { document, bytes } = prepared;
  const attemptedAt = deps.clock.now();
  const deadlineAt = addSeconds(attemptedAt, APPEND_GRACE_SECONDS + deps.limits.sendSeconds);
  const decision = definition.decideAttempt(loaded.state, key, document, { attemptedAt, deadlineAt });
  if ('refused' in decision) return 'reload';
  // Not by `transact`: the winner of exactly this append sends, and after a lost race the step is decided again.
  const context = workerContext(stream, definition.sites.attempt, deps)(deps.clock.now(), loaded.events.at(-1));
  const recorded = await deps.store.append(stream, loaded.version, decision.events, context);
  if (!recorded.ok) return 'reload';

  const isInTime = isBefore(deps.clock.now(), addSeconds(attemptedAt, APPEND_GRACE_SECONDS));
  // The append may have waited for a database that has failed over meanwhile: an earlier attempt may be lost, whose note the comparison is to find.
  const isPaused = mayPause(deps);
  const unsent = isPaused ? PAUSED : TOO_LATE;
  const result = isInTime && !isPaused ? await definition.send(work, bytes, deadlineAt, deps) : unsent;
  permit.report(result, (caller) => definition.find(caller, work, document, deps));
  const added = recorded.added as LoadedStream<InvoiceEvent>;
  const known = { events: [...loaded.events, ...added.events], version: added.version };
  const state = await recordResult(job, key, document, result, known);
  if (state === ATTEMPT_LOST) return whenLossIsRecorded(deps);
  if (state === undefined) return 'reload';
  return definition.nextStep(state, deps.clock.now(), deps.limits, { asked: 0 }).do === 'nothing' ? done : 'reload';
};

const notSent = (reason: string) => ({ kind: 'not_sent', reason, codes: [] }) as const satisfies SendResult<unknown>;

const TOO_LATE = notSent('the deadline was too near');
const PAUSED = notSent('issuing was paused');

/** Nothing can be sent until an operator removes the obstacle. */
export const haltedBy = (
  kind: 'certificate_missing' | 'series_blocked' | 'series_exhausted' | 'content_lost',
  stream: StreamName,
  deps: IssuerDeps,
): { kind: 'halted'; next: Next } => {
  sendNotice(deps, { kind, stream });
  return { kind: 'halted', next: afterPause(deps) };
};

/**
 * The document of a first send. Our own check may refuse the document. Then nothing was sent, so the work ends at once; it is parked too, because the
 * fault is in this program or its tables and will come again.
 */
const newDocument = async <K extends Sending>(
  { definition, stream, deps }: Job<K>,
  open: OpenWork<K>,
  key: K['key'],
): Promise<Prepared<K['document']>> => {
  try {
    return await definition.newDocument(open, deps);
  } catch (error) {
    if (!(error instanceof SchemaViolation)) throw error;
    sendNotice(deps, { kind: 'document_invalid', stream });
    const at = deps.clock.now();
    await decideAndAppend(stream, definition.sites.outcome, deps, (state) =>
      definition.decideUnsendable(state, key, at),
    );
    const fault = error.message.replaceAll(/\{[^}]*\}/g, '').slice(0, LONGEST_FAULT);
    const reason = `the document does not fit the official schema: ${fault}`;
    return { kind: 'halted', next: { kind: 'park', reason } };
  }
};

/** Characters of a schema fault in the reason of parked work. The fault names elements and facets, never a value. */
const LONGEST_FAULT = 300;

const afterPause = ({ clock }: IssuerDeps): Next => ({
  kind: 'later',
  at: addSeconds(clock.now(), OBSTACLE_PAUSE_SECONDS),
});

/**
 * Every other process sees a pause of issuing within this time. Taken there sooner, the work could be sent again over a log that has lost its attempt.
 */
const PAUSE_SEEN_SECONDS = 5;

const whenPauseIsSeen = ({ clock }: IssuerDeps): Next => ({
  kind: 'later',
  at: addSeconds(clock.now(), PAUSE_SEEN_SECONDS),
});

/** Longer than a process that stops may take to record the pause after a loss that its last answer has shown. */
const LOSS_RECORDED_SECONDS = 60;

const whenLossIsRecorded = ({ clock }: IssuerDeps): Next => ({
  kind: 'later',
  at: addSeconds(clock.now(), LOSS_RECORDED_SECONDS),
});
