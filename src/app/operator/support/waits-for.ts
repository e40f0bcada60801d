import type { CompanyId, Mode, StreamName } from '../../../domain/common/ids.js';
import { earlierOf, type Instant } from '../../../domain/common/time.js';
import { hasValidCertificate } from '../../../domain/company/eligibility.js';
import type { InvoiceEvent } from '../../../domain/invoice/events.js';
import type { Limits } from '../../../domain/invoice/limits.js';
import { nextCancelStep, timeoutAt } from '../../../domain/invoice/next-cancel-step.js';
import { nextIssueStep, verdictByTime } from '../../../domain/invoice/next-issue-step.js';
import { isLookedUp, type LookupProgress, progressOfSend, type SendStep } from '../../../domain/invoice/send-steps.js';
import type { Invoice, InvoiceState, Send } from '../../../domain/invoice/state.js';
import type { CertificateRefusal } from '../../../ports/certificate-refusals.js';
import type { CertificateVault } from '../../../ports/certificate-vault.js';
import type { Clock } from '../../../ports/clock.js';
import type { RecordedEvent } from '../../../ports/event-log.js';
import type { ReadModel } from '../../../ports/read-model.js';
import type { LookupProgressStore } from '../../../ports/work-progress.js';
import { type DecodedEvent, decodeSealed } from '../../event-store/codec.js';
import type { EventStore } from '../../event-store/event-store.js';
import { cancelLookupKey } from '../../issuing/cancellation.js';
import { issueLookupKey } from '../../issuing/note.js';
import { invoiceFold } from '../../read/read-invoice.js';
import { type NamedLookups, storedLookups } from './invoice-case.js';
import { type StoppedSeries, stoppedSeries } from './stopped-series.js';

/** `from` is now when the step is due. A breaker and a role that no process has are not looked at. */
export type NextStep = { step: Exclude<SendStep<Send>['do'], 'nothing' | 'wait'>; from: Instant };

/** What holds a send or a look-up back until an operator acts, or until the authorizer takes the certificate again. */
export type Held =
  | { kind: 'certificate_missing'; companyId: CompanyId }
  | { kind: 'certificate_refused'; refusal: CertificateRefusal }
  | { kind: 'series_stopped'; stopped: StoppedSeries };

/**
 * What an open invoice or a pending cancellation waits for: look-ups that have not decided anything yet, and what state and time do next. `held`: what
 * keeps that from leaving until an operator acts.
 */
export type WaitsFor = { lookups: readonly NamedLookups[]; next: NextStep | undefined; held: readonly Held[] };

export type WaitsForDeps = {
  readModel: Pick<ReadModel, 'company'>;
  vault: Pick<CertificateVault, 'holds'>;
  store: Pick<EventStore, 'load'>;
  clock: Clock;
  refusedCertificates(): Promise<readonly CertificateRefusal[]>;
  lookups: Pick<LookupProgressStore, 'get'>;
  limits: Limits;
};

/** Undefined when these events of one invoice leave nothing open. The events must be the whole stream. */
export const waitsFor = async (
  stream: StreamName,
  recorded: readonly RecordedEvent[],
  deps: WaitsForDeps,
): Promise<WaitsFor | undefined> => {
  const state = recorded
    .map((one) => decodeSealed(one) as DecodedEvent<InvoiceEvent>)
    .reduce<InvoiceState>(invoiceFold.evolve, invoiceFold.initial);
  return await waitsOf(stream, state, deps);
};

/** The same of an invoice in this state. */
export const waitsOf = async (
  stream: StreamName,
  state: InvoiceState,
  deps: WaitsForDeps,
): Promise<WaitsFor | undefined> => {
  const { lookups, clock, limits } = deps;
  if (state.kind !== 'invoice') return undefined;
  const open = openSends(state);
  if (open === undefined) return undefined;
  const asked = await storedLookups(stream, open.sends.map(open.lookupKey), lookups);
  const now = clock.now();
  const last = open.sends.at(-1);
  const stored = last && asked.find(({ work }) => work === open.lookupKey(last));
  const progress = last !== undefined && isLookedUp(last) ? progressOfSend(stored, last, now) : { asked: 0 };
  const next = stepFrom((at) => open.nextStep(state, at, limits, progress), now, open.endsAt(limits));
  const isSend = next?.step === 'send' || next?.step === 'resend';
  const takesNumber = next?.step === 'send' && state.outcome.status === 'open';
  const needsCertificate = next !== undefined && next.step !== 'conclude';
  return {
    lookups: asked,
    next,
    held: needsCertificate ? await heldBy(state.facts, { isSend, takesNumber }, deps) : [],
  };
};

type OpenSends = {
  sends: readonly Send[];
  lookupKey(send: Send): string;
  nextStep(state: InvoiceState, at: Instant, limits: Limits, progress: LookupProgress): SendStep<Send>;
  /** When time decides. */
  endsAt(limits: Limits): Instant;
};

const openSends = (invoice: Invoice): OpenSends | undefined => {
  const { outcome, attempts, cancellation } = invoice;
  if (outcome.status === 'open') {
    const endsAt = (limits: Limits): Instant => verdictByTime(invoice, limits).failedAt;
    return { sends: attempts, lookupKey: issueLookupKey, nextStep: nextIssueStep, endsAt };
  }
  if (cancellation?.status !== 'pending') return undefined;
  const { request, sends } = cancellation;
  return {
    sends,
    lookupKey: ({ attempt }) => cancelLookupKey({ request, attempt }),
    nextStep: nextCancelStep,
    endsAt: (limits) => timeoutAt(cancellation, limits),
  };
};

/**
 * The step at `at`, or the one that follows when the wait for it is over. The pause before a look-up may last longer than the time that is left: the
 * wait ends at `endsAt`, with the sweeper's verdict. Each wait ends later than it was asked for.
 */
const stepFrom = (stepAt: (at: Instant) => SendStep<Send>, at: Instant, endsAt: Instant): NextStep | undefined => {
  const step = stepAt(at);
  if (step.do === 'nothing') return undefined;
  if (step.do !== 'wait') return { step: step.do, from: at };
  return stepFrom(stepAt, earlierOf(endsAt, step.until), endsAt);
};

/** A refused certificate holds sends alone. `takesNumber`: the send is of a new DPS, which needs a number of the series. */
type HeldCall = { isSend: boolean; takesNumber: boolean };

/** What is on file for the company that holds its calls back. */
const heldBy = async (
  { companyId, mode }: { companyId: CompanyId; mode: Mode },
  { isSend, takesNumber }: HeldCall,
  { readModel, vault, store, clock, refusedCertificates }: WaitsForDeps,
): Promise<readonly Held[]> => {
  const company = await readModel.company(companyId);
  if (company === undefined) return [];
  const { certificateId = '' } = company.certificate ?? {};
  const canSend = hasValidCertificate(company, clock.now()) && (await vault.holds(companyId, certificateId));
  const refused = canSend && isSend ? await refusedCertificates() : [];
  const refusal = refused.find(
    (one) => one.mode === mode && one.companyId === companyId && one.certificateId === certificateId,
  );
  const stopped = takesNumber ? await stoppedSeries([company], store) : [];
  return [
    ...(canSend ? [] : [{ kind: 'certificate_missing' as const, companyId }]),
    ...(refusal === undefined ? [] : [{ kind: 'certificate_refused' as const, refusal }]),
    ...stopped.flatMap((one) => (one.mode === mode ? [{ kind: 'series_stopped' as const, stopped: one }] : [])),
  ];
};
