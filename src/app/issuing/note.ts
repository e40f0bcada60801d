import type { DpsId } from '../../domain/common/access-key.js';
import type { StreamName } from '../../domain/common/ids.js';
import { buildDps } from '../../domain/dps/build-dps.js';
import { isCustomerNameMissing } from '../../domain/dps/customer.js';
import {
  decideAbsence,
  decideNoteOf,
  decideNumberConflict,
  decideRejection,
  decideUnsendable,
  decideVerdict,
  whatAbsenceShows,
} from '../../domain/invoice/decide-issuance.js';
import { type IssueVerdict, nextIssueStep } from '../../domain/invoice/next-issue-step.js';
import { decideAnswer, decideAttempt } from '../../domain/invoice/send-decisions.js';
import type { Invoice, IssueAttempt } from '../../domain/invoice/state.js';
import type { AuthorizedNote } from '../../ports/authorizer.js';
import { allocateDpsNumber, blockDpsSeries } from './allocate-number.js';
import { probeCertificate } from './certificate-breaker.js';
import { decideAndAppend } from './decide-and-append.js';
import { done, type IssuerDeps, type Next, sendNotice } from './deps.js';
import { authorizedFrom, compareNote, mayHaveSameContent } from './found-documents.js';
import { lastLookUpUntil } from './look-up-limit.js';
import { concludeIfDue, haltedBy, workOn } from './protocol.js';
import type { OpenWork, Prepared, SendDefinition } from './send-definition.js';
import { bytesOf, resignedIfRenewed, type StoredSignature, storedOf } from './stored-documents.js';

/** A DPS, which becomes a note. */
type NoteSending = {
  work: Invoice;
  send: IssueAttempt;
  unsent: never;
  key: { attempt: number };
  document: StoredSignature & { series: string; number: number; dpsId: DpsId };
  found: AuthorizedNote;
  verdict: IssueVerdict;
};

/** Takes an accepted invoice as far as possible now. See `workOn`. */
export const workOnIssue = (stream: StreamName, deps: IssuerDeps): Promise<Next> => workOn(note, stream, deps);

/** Records the verdict of an invoice. See `concludeIfDue`. */
export const concludeIssueIfDue = (
  stream: StreamName,
  deps: IssuerDeps,
  lookUpUntil = lastLookUpUntil(deps.clock.now()),
): Promise<void> => concludeIfDue(note, stream, deps, lookUpUntil);

/** Names the look-ups of an attempt in the database. */
export const issueLookupKey = ({ attempt }: { attempt: number }): string => `issue/${attempt}`;

const note: SendDefinition<NoteSending> = {
  resource: 'notes',
  sites: {
    attempt: 'record_issue_attempt',
    outcome: 'record_issue_outcome',
    lookup: 'record_issue_lookup',
    conclude: 'conclude_issue',
  },
  nextStep: nextIssueStep,
  workOf: ({ state }) => (state.kind === 'invoice' && state.outcome.status === 'open' ? state : undefined),
  callerOf: ({ facts }) => facts,
  sendsOf: ({ attempts }) => attempts,
  keyOf: (_invoice, attempt) => ({ attempt }),
  lookupKey: issueLookupKey,

  newDocument: (open, deps) => newDps(open, deps),
  storedDocument: (open, of, deps) => storedDps(open, of, deps),
  send: ({ facts }, bytes, deadlineAt, { authorizer }) => authorizer.sendDps(facts, bytes, deadlineAt),
  find: (caller, _invoice, { dpsId }, { authorizer }, until) => authorizer.findByDps(caller, dpsId, until),
  probe: async ({ loaded: { events }, work }, deps) => {
    const accepted = events.find((event) => event.type === 'InvoiceAccepted');
    if (accepted !== undefined) await probeCertificate(work.facts, accepted.data.issuer.municipality, deps);
  },
  ownerOf: compareNote,
  recordOther: (open, of, found, deps) => recordNumberConflict(open, of, found, deps),
  absenceOf: (invoice, send) => whatAbsenceShows(invoice, send),

  decideUnsendable: (state, _key, at) => decideUnsendable(state, 'document_invalid', at),
  decideAttempt: (state, key, { signedGzip: signedDpsGzip, ...document }, times) =>
    decideAttempt(state, { type: 'IssuanceAttempted', data: { ...key, ...document, signedDpsGzip, ...times } }),
  decideNotSent: (state, data) => decideAnswer(state, { type: 'IssuanceNotSent', data }),
  decideUnknown: (state, data) => decideAnswer(state, { type: 'IssuanceOutcomeUnknown', data }),
  decideRejected: decideRejection,
  decideDone: (state, { attempt }, found, { dpsId }, at) =>
    decideNoteOf(state, dpsId, authorizedFrom(found, attempt, 'response', at)),
  decideFound: (state, { attempt }, found, at) =>
    decideNoteOf(state, found.dpsId, authorizedFrom(found, attempt, 'lookup', at)),
  decideAbsence,
  decideVerdict: (state, verdict, now, limits, seen) => decideVerdict(state, verdict, now, limits, seen !== undefined),
};

/** Another party's note has our DPS id: the series stops, and the invoice may go on with another number. */
const recordNumberConflict = async (
  { stream, loaded: { events }, work }: OpenWork<NoteSending>,
  { attempt, series, number, dpsId }: IssueAttempt,
  found: AuthorizedNote,
  deps: IssuerDeps,
): Promise<void> => {
  const conflict = {
    attempt,
    dpsId,
    accessKey: found.accessKey,
    foundDigest: found.digest,
    sameContent: mayHaveSameContent(found, events),
    at: deps.clock.now(),
  };
  await blockDpsSeries(work.facts, { series, number }, events.at(-1), deps);
  await decideAndAppend(stream, note.sites.lookup, deps, (state) => decideNumberConflict(state, conflict));
  sendNotice(deps, { kind: 'number_conflict', stream });
};

/**
 * The DPS of an earlier attempt, with the same content under the same DPS id. The authorizer refuses a second note for that id, which is the
 * second lock.
 */
const storedDps = async (
  { stream, loaded: { events }, work }: OpenWork<NoteSending>,
  of: IssueAttempt,
  deps: IssuerDeps,
): Promise<Prepared<NoteSending['document']>> => {
  const sent = events.find((event) => event.type === 'IssuanceAttempted' && event.data.attempt === of.attempt);
  if (sent?.type !== 'IssuanceAttempted') throw new Error('an attempt is known of whose event is not in the stream');
  const { series, number, dpsId, signedDpsGzip: signedGzip, digest, signatureMark } = sent.data;
  const signature = await resignedIfRenewed({ signedGzip, digest, signatureMark }, work.facts, deps);
  return typeof signature === 'string'
    ? haltedBy(signature, stream, deps)
    : { kind: 'document', document: { series, number, dpsId, ...signature }, bytes: bytesOf(signature) };
};

const newDps = async (
  { stream, loaded: { events }, work }: OpenWork<NoteSending>,
  deps: IssuerDeps,
): Promise<Prepared<NoteSending['document']>> => {
  const accepted = events.find((event) => event.type === 'InvoiceAccepted');
  if (accepted === undefined) throw new Error('nothing was accepted on this stream');
  const { description } = accepted.data;
  // Without a description, whose key is gone, the document would say something else.
  if (description === undefined) return haltedBy('content_lost', stream, deps);
  if (isCustomerNameMissing(accepted.data.customer)) {
    const reason = 'customer_name_missing';
    const at = deps.clock.now();
    await decideAndAppend(stream, note.sites.outcome, deps, (state) => decideUnsendable(state, reason, at));
    return { kind: 'halted', next: done };
  }
  const { mode, companyId } = work.facts;
  const company = await deps.company(companyId);
  const identity = await deps.identityOf({ mode, companyId });
  if (company === undefined || identity === undefined) return haltedBy('certificate_missing', stream, deps);
  const start = company.registration.dps[mode];
  const allocated = await allocateDpsNumber(work.facts, start, events.at(-1), deps);
  if ('refused' in allocated) return haltedBy(allocated.refused, stream, deps);
  const { number } = allocated;
  const { series } = start;
  const content = { ...accepted.data, description };
  const dps = buildDps({ mode, series, number, accepted: content, currencyCode: deps.currencyCode });
  const signed = await deps.signer.signDps(dps.xml, identity);
  const document = { series, number, dpsId: dps.id, ...storedOf(signed) };
  return { kind: 'document', document, bytes: signed.bytes };
};
