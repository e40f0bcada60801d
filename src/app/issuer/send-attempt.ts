import { gunzipSync } from 'node:zlib';
import { buildDps } from '../../domain/dps/build-dps.js';
import { isCustomerNameMissing } from '../../domain/dps/toma.js';
import type { InvoiceEvent, InvoiceEventData } from '../../domain/invoice/events.js';
import type { IssueStep } from '../../domain/invoice/next-issue-step.js';
import {
  recordAttempt,
  recordAuthorized,
  recordNotSent,
  recordRejection,
  recordUnfit,
  recordUnknown,
} from '../../domain/invoice/record-issuance.js';
import type { Invoice } from '../../domain/invoice/state.js';
import type { StreamName } from '../../domain/shared/ids.js';
import { addSeconds, type Instant, isBefore } from '../../domain/shared/time.js';
import { unreachable } from '../../domain/shared/unreachable.js';
import { SchemaViolation } from '../../ports/documents.js';
import type { LoadedInvoice } from '../read/read-invoice.js';
import { allocateDpsNumber } from './allocate-number.js';
import { authorizedFrom } from './authorized.js';
import { done, type IssuerDeps, type Next, tell } from './deps.js';
import { recordDecision, workerContext } from './record.js';
import { signedForToday, storedOf } from './renewed-signature.js';
import type { Pass } from './send-gate.js';

type SendStep = Extract<IssueStep, { do: 'send' | 'resend' }>;
type Document = Pick<
  InvoiceEventData<'IssuanceAttempted'>,
  'series' | 'number' | 'dpsId' | 'digest' | 'signatureMark' | 'signedDpsGzip'
>;

/** The append may take this long; a slower one gives the attempt up before a byte leaves. */
export const APPEND_GRACE_SECONDS = 5;

/** How long an obstacle that only an operator can remove is left alone. */
const OBSTACLE_PAUSE_SECONDS = 30;

/**
 * Records the attempt with its exact bytes, and only if that append was ours sends them, once (design section 6, 2 and 3).
 * While the environment is out nothing is recorded and no number is taken.
 */
export const sendAttempt = async (
  stream: StreamName,
  loaded: LoadedInvoice,
  step: SendStep,
  deps: IssuerDeps,
): Promise<Next | 'look again'> => {
  if (loaded.state.kind !== 'invoice') return 'look again';
  if (deps.stopping?.aborted) return { kind: 'later', at: deps.clock.now() };
  const pass = await deps.gate.enter(loaded.state.facts);
  if (pass.kind === 'paused') return { kind: 'later', at: pass.until };
  try {
    return await attemptWith(pass, stream, loaded, step, deps);
  } finally {
    pass.leave();
  }
};

const attemptWith = async (
  pass: Pass,
  stream: StreamName,
  loaded: LoadedInvoice,
  step: SendStep,
  deps: IssuerDeps,
): Promise<Next | 'look again'> => {
  const { state, version, events } = loaded;
  if (state.kind !== 'invoice') return 'look again';
  const document =
    step.do === 'resend'
      ? await storedDocument(state.facts, events, step.of.attempt, deps)
      : await newDocument(stream, loaded, deps);
  if (document === 'content lost') return obstacle('content_lost', stream, deps);
  if ('kind' in document) return document;

  // Decoded before anything is recorded: what cannot be decoded was never tried.
  const signedDps = gunzipSync(Buffer.from(document.signedDpsGzip, 'base64'));
  const attemptedAt = deps.clock.now();
  const { attempt } = step;
  const deadlineAt = addSeconds(attemptedAt, APPEND_GRACE_SECONDS + deps.limits.sendSeconds);
  const decision = recordAttempt(state, { attempt, ...document, attemptedAt, deadlineAt });
  if ('stale' in decision) return 'look again';
  const context = workerContext(stream, 'record_issue_attempt', events[events.length - 1], deps);
  if (!(await deps.store.append(stream, version, decision.events, context)).ok) return 'look again';

  if (!isBefore(deps.clock.now(), addSeconds(attemptedAt, APPEND_GRACE_SECONDS))) {
    const data = { attempt, reason: 'the deadline was too near', codes: [], at: deps.clock.now() };
    await recordDecision(stream, 'record_issue_outcome', deps, (current) => recordNotSent(current, data));
    return 'look again';
  }
  const { dpsId } = document;
  await sendAndRecord(stream, loaded, { attempt, dpsId, signedDps, deadlineAt, pass }, deps);
  return 'look again';
};

type Sending = { attempt: number; dpsId: string; signedDps: Buffer; deadlineAt: Instant; pass: Pass };

const sendAndRecord = async (
  stream: StreamName,
  { state }: LoadedInvoice,
  { attempt, dpsId, signedDps, deadlineAt, pass }: Sending,
  deps: IssuerDeps,
): Promise<void> => {
  if (state.kind !== 'invoice') return;
  const result = await deps.authorizer.sendDps(state.facts, signedDps, deadlineAt);
  pass.saw(result, (caller) => deps.authorizer.findByDps(caller, dpsId));
  const at = deps.clock.now();
  const recorded = await recordDecision(stream, 'record_issue_outcome', deps, (current) => {
    switch (result.kind) {
      case 'done':
        return recordAuthorized(current, authorizedFrom(result.result, attempt, 'response', at));
      case 'not_sent':
        return recordNotSent(current, { attempt, reason: result.reason, codes: result.codes, at });
      case 'rejected': {
        const { kind: _kind, ...answer } = result;
        return recordRejection(current, attempt, answer, at);
      }
      case 'unknown': {
        const { kind: _kind, outage: _outage, signatureFault: _fault, ...answer } = result;
        return recordUnknown(current, { attempt, ...answer, at });
      }
      default:
        return unreachable(result);
    }
  });
  if (result.kind === 'unknown' && result.signatureFault !== undefined) {
    tell(deps, { notice: 'signature_unverified', stream, detail: result.signatureFault });
  }
  if (!recorded) tell(deps, { notice: 'outcome_not_recorded', stream, detail: result.kind });
  if (result.kind === 'not_sent' && result.certificateRefused) tell(deps, { notice: 'certificate_refused', stream });
};

/** The same content as before under the same DPS id: the authorizer's own uniqueness of it is the second lock. */
const storedDocument = async (
  owner: Invoice['facts'],
  events: readonly InvoiceEvent[],
  attempt: number,
  deps: IssuerDeps,
): Promise<Document | 'content lost'> => {
  const sent = events.find((event) => event.type === 'IssuanceAttempted' && event.data.attempt === attempt);
  if (sent?.type !== 'IssuanceAttempted') throw new Error('an attempt is known of whose event is not in the stream');
  const { series, number, dpsId, signedDpsGzip, digest, signatureMark } = sent.data;
  if (isLost(signedDpsGzip) || isLost(digest)) return 'content lost';
  const { signedGzip, ...about } = await signedForToday(
    { signedGzip: signedDpsGzip, digest, ...(signatureMark === undefined ? {} : { signatureMark }) },
    owner,
    deps,
  );
  return { series, number, dpsId, ...about, signedDpsGzip: signedGzip };
};

/** A personal field is left out when its key is gone, whatever its type says; sending without it would say something else. */
const isLost = (field: string | undefined): boolean => field === undefined;

const newDocument = async (
  stream: StreamName,
  { state, events }: LoadedInvoice,
  deps: IssuerDeps,
): Promise<Document | Next | 'content lost'> => {
  const accepted = events.find((event) => event.type === 'InvoiceAccepted');
  if (state.kind !== 'invoice' || accepted?.type !== 'InvoiceAccepted')
    throw new Error('nothing was accepted on this stream');
  if (isLost(accepted.data.description)) return 'content lost';
  if (isCustomerNameMissing(accepted.data.customer)) {
    const at = deps.clock.now();
    await recordDecision(stream, 'record_issue_outcome', deps, (current) =>
      recordUnfit(current, 'customer_name_missing', at),
    );
    return done;
  }
  const { mode, companyId } = state.facts;
  const company = await deps.company(companyId);
  const identity = await deps.identityOf({ mode, companyId });
  if (company === undefined || identity === undefined) return obstacle('certificate_missing', stream, deps);
  const start = company.registration.dps[mode];
  const allocated = await allocateDpsNumber(state.facts, start, events[events.length - 1], deps);
  if ('refused' in allocated) return obstacle('series_blocked', stream, deps);
  try {
    const { number } = allocated;
    const { series } = start;
    const dps = buildDps({ mode, series, number, accepted: accepted.data, currencyCode: deps.currencyCode });
    const { signedGzip, ...about } = storedOf(await deps.signer.signDps(dps.xml, identity));
    return {
      series,
      number,
      dpsId: dps.id,
      ...about,
      signedDpsGzip: signedGzip,
    };
  } catch (error) {
    if (!(error instanceof SchemaViolation)) throw error;
    tell(deps, { notice: 'document_invalid', stream });
    return { kind: 'park', reason: 'the document does not fit the official schema' };
  }
};

const obstacle = (
  notice: 'certificate_missing' | 'series_blocked' | 'content_lost',
  stream: StreamName,
  deps: IssuerDeps,
): Next => {
  tell(deps, { notice, stream });
  return { kind: 'later', at: addSeconds(deps.clock.now(), OBSTACLE_PAUSE_SECONDS) };
};
