import { gunzipSync } from 'node:zlib';
import { type CancelSend, type CancelStep, nextCancelStep } from '../../domain/invoice/next-cancel-step.js';
import { completesAbsence, type LookupProgress } from '../../domain/invoice/next-issue-step.js';
import {
  concludeCancellation,
  EVENT_EXISTS,
  recordCancelAbsence,
  recordCancelAttempt,
  recordConfirmation,
} from '../../domain/invoice/record-cancellation.js';
import { type Cancellation, type Invoice, lastOf } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import { type LoadedInvoice, loadInvoice, loadSealedInvoice } from '../read/read-invoice.js';
import { newRequest, storedRequest } from './cancel-document.js';
import { done, doubtsOf, type IssuerDeps, type Next, tell } from './deps.js';
import { inLookUpPlace, lastLookUntil } from './look-up-places.js';
import { recordDecision, workerContext } from './record.js';
import {
  compareRequest,
  confirmationFrom,
  foundRequest,
  recordCancelAnswer,
  type SentRequest,
  sentRequests,
} from './record-cancel-answer.js';
import { APPEND_GRACE_SECONDS } from './send-attempt.js';
import type { Pass } from './send-gate.js';

/** Takes a pending cancellation as far as it can go now: the issuing protocol again, for one event (design section 6, 7). */
export const workOnCancellation = async (stream: StreamName, deps: IssuerDeps): Promise<Next> => {
  for (;;) {
    const loaded = await loadInvoice(stream, deps.store);
    const pending = pendingOf(loaded);
    if (pending === undefined) return done;
    const progress = await progressOf(stream, pending.cancellation, deps);
    const step = nextCancelStep(loaded.state, deps.clock.now(), deps.limits, progress);
    switch (step.do) {
      case 'nothing':
        return done;
      case 'wait':
        return { kind: 'later', at: step.until };
      case 'send':
      case 'resend': {
        const next = await send(stream, loaded, pending, step, deps);
        if (next !== 'look again') return next;
        break;
      }
      case 'look_up': {
        const next = await inLookUpPlace(deps, () => lookUp(stream, pending, step.send, deps));
        if (next !== 'look again') return next;
        break;
      }
      case 'conclude': {
        const conclude = () => concludeNow(stream, step, deps, lastLookUntil(deps.clock.now()));
        const next = await (step.lookUpFirst === undefined ? conclude() : inLookUpPlace(deps, conclude));
        if (next !== undefined && next !== 'look again') return next;
        break;
      }
      default:
        return unreachable(step);
    }
  }
};

/**
 * The sweeper's part: the time-out if it is due, and nothing else. It depends on the log and the clock alone; the look-up before
 * it is over at `lookUntil`.
 */
export const concludeCancellationIfDue = async (
  stream: StreamName,
  deps: IssuerDeps,
  lookUntil = lastLookUntil(deps.clock.now()),
): Promise<void> => {
  const { state } = await loadSealedInvoice(stream, deps.store);
  const step = nextCancelStep(state, deps.clock.now(), deps.limits, { asked: 0 });
  if (step.do === 'conclude') await concludeNow(stream, step, deps, lookUntil);
};

type Pending = {
  invoice: Invoice;
  cancellation: Cancellation;
  accessKey: string;
  sent: readonly SentRequest[];
};

const pendingOf = ({ state, events }: LoadedInvoice): Pending | undefined => {
  if (state.kind !== 'invoice' || state.cancellation?.status !== 'pending' || state.outcome.status !== 'issued')
    return undefined;
  const { accessKey } = state.outcome;
  if (accessKey === undefined) return undefined;
  return { invoice: state, cancellation: state.cancellation, accessKey, sent: sentRequests(events) };
};

const concludeNow = async (
  stream: StreamName,
  step: Extract<CancelStep, { do: 'conclude' }>,
  deps: IssuerDeps,
  lookUntil: Instant,
): Promise<void> => {
  // Taken before the look-up, as for an invoice: what begins after it has a time and a last look-up of its own.
  const now = deps.clock.now();
  if (step.lookUpFirst !== undefined && (await lastLook(stream, step.lookUpFirst, deps, lookUntil)) === 'found') return;
  await recordDecision(stream, 'conclude_cancellation', deps, (state) => concludeCancellation(state, now, deps.limits));
};

/** The look-up before the time-out. It has its chance, and whatever fails on its way, the time-out follows. */
const lastLook = async (
  stream: StreamName,
  send: CancelSend,
  deps: IssuerDeps,
  until: Instant,
): Promise<'found' | 'not found'> => {
  try {
    const pending = pendingOf(await loadInvoice(stream, deps.store));
    return pending === undefined ? 'not found' : await lookUp(stream, pending, send, deps, until);
  } catch (error) {
    tell(deps, { notice: 'last_look_up_failed', stream, detail: error instanceof Error ? error.name : 'not an error' });
    return 'not found';
  }
};

const lookupKey = (cancellation: Cancellation, send: CancelSend): string =>
  `cancel/${cancellation.request}/${send.attempt}`;

const progressOf = async (
  stream: StreamName,
  cancellation: Cancellation,
  deps: IssuerDeps,
): Promise<LookupProgress> => {
  const last = lastOf(cancellation.sends);
  if (last === undefined || (last.resolution !== 'open' && last.resolution !== 'unknown')) return { asked: 0 };
  return (await deps.lookups.get(stream, lookupKey(cancellation, last))) ?? { asked: 0 };
};

const OBSTACLE_PAUSE_SECONDS = 30;

type SendStep = Extract<CancelStep, { do: 'send' | 'resend' }>;

const send = async (
  stream: StreamName,
  loaded: LoadedInvoice,
  pending: Pending,
  step: SendStep,
  deps: IssuerDeps,
): Promise<Next | 'look again'> => {
  if (deps.stopping?.aborted) return { kind: 'later', at: deps.clock.now() };
  const pass = await deps.gate.enter(pending.invoice.facts);
  if (pass.kind === 'paused') return { kind: 'later', at: pass.until };
  try {
    return await sendWith(pass, stream, loaded, pending, step, deps);
  } finally {
    pass.leave();
  }
};

const sendWith = async (
  pass: Pass,
  stream: StreamName,
  { state, version, events }: LoadedInvoice,
  { invoice, cancellation, accessKey }: Pending,
  step: SendStep,
  deps: IssuerDeps,
): Promise<Next | 'look again'> => {
  const document =
    step.do === 'resend'
      ? await storedRequest(invoice.facts, events, cancellation.request, step.of.attempt, deps)
      : await newRequest(invoice, cancellation, accessKey, events, deps);
  if (document === undefined) {
    const notice = (await deps.identityOf(invoice.facts)) === undefined ? 'certificate_missing' : 'content_lost';
    tell(deps, { notice, stream });
    return { kind: 'later', at: addSeconds(deps.clock.now(), OBSTACLE_PAUSE_SECONDS) };
  }
  // Decoded before anything is recorded: what cannot be decoded was never tried.
  const bytes = gunzipSync(Buffer.from(document.signedRequestGzip, 'base64'));
  const attemptedAt = deps.clock.now();
  const deadlineAt = addSeconds(attemptedAt, APPEND_GRACE_SECONDS + deps.limits.sendSeconds);
  const sent = { request: cancellation.request, attempt: step.attempt };
  const decision = recordCancelAttempt(state, { ...sent, ...document, attemptedAt, deadlineAt });
  if ('stale' in decision) return 'look again';
  const context = workerContext(stream, 'record_cancel_attempt', events[events.length - 1], deps);
  if (!(await deps.store.append(stream, version, decision.events, context)).ok) return 'look again';

  const inTime = isBefore(deps.clock.now(), addSeconds(attemptedAt, APPEND_GRACE_SECONDS));
  const result = inTime
    ? await deps.authorizer.sendCancellation(invoice.facts, accessKey, bytes, deadlineAt)
    : { kind: 'not_sent' as const, reason: 'the deadline was too near', codes: [], certificateRefused: false };
  pass.saw(result, (caller) => deps.authorizer.findCancellation(caller, accessKey));
  await recordCancelAnswer(stream, sent, document, result, deps);
  return 'look again';
};

const lookUp = async (
  stream: StreamName,
  { invoice, cancellation, accessKey, sent }: Pending,
  send: CancelSend,
  deps: IssuerDeps,
  until?: Instant,
): Promise<'found' | 'not found'> => {
  const askedAt = deps.clock.now();
  const result = await deps.authorizer.findCancellation(invoice.facts, accessKey, until);
  const { kind } = result;
  if (kind === 'found') {
    const owner = compareRequest(result.found, sent);
    for (const doubt of doubtsOf(stream, foundRequest(result.found), owner)) tell(deps, doubt);
    if (owner === 'ours') {
      const data = confirmationFrom(result.found, cancellation.request, 'lookup', deps.clock.now());
      await recordDecision(stream, 'record_cancel_lookup', deps, (state) => recordConfirmation(state, data));
      return 'found';
    }
  }
  if (kind === 'inconclusive') tell(deps, { notice: 'lookup_inconclusive', stream, detail: result.reason });
  const memo: LookupProgress = (await deps.lookups.get(stream, lookupKey(cancellation, send))) ?? { asked: 0 };
  const existsElsewhere = cancellation.sends.some((one) => one.codes.includes(EVENT_EXISTS));
  const absent = kind === 'absent';
  const firstAbsentAt = memo.firstAbsentAt ?? (absent && !isBefore(askedAt, send.deadlineAt) ? askedAt : undefined);
  if (absent && (existsElsewhere || completesAbsence(send, firstAbsentAt, askedAt, deps.limits))) {
    const proof = {
      ...{ request: cancellation.request, attempt: send.attempt, now: askedAt },
      firstAbsentAt: firstAbsentAt ?? askedAt,
    };
    const settled = await recordDecision(stream, 'record_cancel_lookup', deps, (state) =>
      recordCancelAbsence(state, proof, deps.limits),
    );
    if (settled) return 'not found';
  }
  await deps.lookups.put(stream, lookupKey(cancellation, send), {
    asked: memo.asked + 1,
    lastAskedAt: askedAt,
    ...(firstAbsentAt === undefined ? {} : { firstAbsentAt }),
  });
  return 'not found';
};
