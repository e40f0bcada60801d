import { type AccessKey, isAccessKey, numberOfKey, providerOfKey } from '../../../domain/common/access-key.js';
import { publicInvoiceId } from '../../../domain/common/ids.js';
import { withLineFeeds } from '../../../domain/common/line-ends.js';
import { decideAuthorized } from '../../../domain/invoice/decide-issuance.js';
import { type Decision, stale } from '../../../domain/invoice/decision.js';
import type { ReadInvoiceEvent } from '../../../domain/invoice/events.js';
import { hasMetOther, isOfLostAttempt, noteMet } from '../../../domain/invoice/note-met.js';
import { allCameToNothing, type InvoiceState, isUnsettled } from '../../../domain/invoice/state.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventStore } from '../../event-store/event-store.js';
import { decideAndAppend } from '../../issuing/decide-and-append.js';
import { contradictsAcceptance, customerDocumentOf } from '../../issuing/found-documents.js';
import type { LoadedInvoice } from '../../read/read-invoice.js';
import type { Imported, PlannedImport } from './import-line.js';

type Accepted = Extract<ReadInvoiceEvent, { type: 'InvoiceAccepted' }>['data'];

/**
 * Whether the line is the note of an accepted invoice that has no note and cannot have one: a client repeated a request whose acceptance and note the
 * log has lost. Undefined for any other invoice. `attached`: an import has recorded the note, or log recovery has. `recorded`: the invoice was sent
 * and has this note. `problem`: what of the line contradicts the acceptance, that the line does not name the invoice by its id, or that the invoice
 * may have a note.
 */
export const noteOfAccepted = (
  { state, events }: LoadedInvoice,
  { data, namesId, dps }: PlannedImport,
): 'fits' | 'attached' | 'recorded' | { problem: string } | undefined => {
  const first = events[0];
  if (first?.type !== 'InvoiceAccepted' || state.kind !== 'invoice') return undefined;
  const { outcome } = state;
  const isRecorded = outcome.status === 'issued' && outcome.accessKey === data.accessKey;
  const id = publicInvoiceId(data.invoiceId);
  if (isUnsettled(state) && noteMet(events, data.accessKey) !== undefined)
    return { problem: `${id} met this note under its number, with its own content: ${settleWithNote(id)}` };
  if (outcome.status === 'indeterminate') return { problem: `${id} ${ofIndeterminate(id, data.accessKey, events)}` };
  if (!isRecorded && !isWithoutNote(state))
    return outcome.status === 'open' && namesId === true ? { problem: `${id} ${MAY_HAVE_NOTE}` } : undefined;
  if (!isRecorded && namesId !== true)
    return { problem: `${id} was accepted with its reference or idempotency_key and waits to be sent: ${SAME_SALE}` };
  const problem = isRecorded ? contradictionOfRecorded(first.data, data) : contradictionOf(first.data, data);
  if (problem !== undefined) return { problem: `${id} ${problem}` };
  if (!isRecorded)
    return dps !== undefined && contradictsAcceptance(dps, events) ? { problem: `${id} ${OTHER_CUSTOMER}` } : 'fits';
  return isOfLostAttempt(events) ? 'attached' : 'recorded';
};

/** Two sales may have one key, a day apart, and an earlier system may have used a reference too. Only the operator can say that it is one sale. */
const SAME_SALE =
  'where the line is of the same sale, give it with that id, and without idempotency_key; else without reference and idempotency_key';

/** No import records the note, because the look-up of the settlement verifies its signature and content. */
const settleWithNote = (id: string): string =>
  `where it is the same sale, nfse invoice resolve ${id} --as issued --evidence portal once that invoice is indeterminate; else give the line without its id and reference`;

/** A line leads to such an invoice by its id, reference or key. No import records a note on it. */
const ofIndeterminate = (id: string, accessKey: AccessKey | undefined, events: readonly ReadInvoiceEvent[]): string =>
  hasMetOther(events, accessKey)
    ? `met this note under its number with other content, and is indeterminate: give the line without its id, reference and idempotency_key. Where it is the same sale, leave ${id} indeterminate and tell its client that this note counts`
    : `is indeterminate: where the line is of the same sale, nfse invoice resolve ${id} --as issued --evidence portal looks for its note. Else give the line without its id, reference and idempotency_key`;

/** The amount of the file is that of the line, which is that of the acceptance. */
const OTHER_CUSTOMER =
  'was accepted with another customer than xml_file has, so the note is of another sale: give the line without its id, reference and idempotency_key';

const MAY_HAVE_NOTE =
  'may have been sent, so it may have another note: no note is recorded on it before a look-up of its own DPS id has said what came of that';

/** What the refusal of a key adds about the invoice that holds the key. */
export const adviceOnHolder = ({ state, events }: LoadedInvoice): string =>
  events[0]?.type === 'InvoiceAccepted' && isWithoutNote(state) ? `, which waits to be sent: ${SAME_SALE}` : '';

/** An attempt that may have left this process is no such invoice, also after a proven absence: a late commit may still come of it. */
const isWithoutNote = (state: InvoiceState): boolean =>
  state.kind === 'invoice' && state.outcome.status === 'open' && allCameToNothing(state.attempts);

const contradictionOfRecorded = (accepted: Accepted, data: Imported): string | undefined =>
  data.state === 'issued'
    ? differenceOf(accepted, data)
    : 'has this note on record: give the note with the state issued, also when it was canceled since';

const contradictionOf = (accepted: Accepted, data: Imported): string | undefined => {
  const { accessKey, state, companyId, issuedAt } = data;
  if (state !== 'issued')
    return 'waits to be sent: give its note with the state issued, also when it was canceled since';
  if (accessKey === undefined || issuedAt === undefined) return 'waits to be sent: give the access_key of its note';
  if (!isAccessKey(accessKey)) return 'waits to be sent: access_key has a wrong check digit';
  if (providerOfKey(accessKey) !== companyId) return 'waits to be sent: access_key is of another company';
  return differenceOf(accepted, data);
};

const differenceOf = (accepted: Accepted, data: Imported): string | undefined => {
  const differing = differingField(accepted, data);
  return differing && `was accepted with another ${differing}`;
};

/** What a line leaves out is not compared, and neither is a description whose key is gone. */
const differingField = (accepted: Accepted, data: Imported): string | undefined => {
  const { line, foreignAmount } = accepted;
  const compared: readonly [string, string | number | undefined, string | number | undefined][] = [
    ['amount_in_cents', data.amountInCents, accepted.amountInCents],
    ['reference', data.reference, accepted.reference ?? ''],
    ['description', lineFeeds(data.description), lineFeeds(accepted.description ?? data.description)],
    ['customer', data.customer && customerDocumentOf(data.customer), customerDocumentOf(accepted.customer)],
    ['service_code', data.serviceCode, line.serviceCode],
    ['cnae', data.cnae, line.cnae],
    ['foreign_amount', data.foreignAmount?.amountInCents, foreignAmount?.amountInCents ?? 0],
  ];
  return compared.find(([, given, known]) => given !== undefined && given !== known)?.[0];
};

const lineFeeds = (text: string | undefined): string | undefined => text && withLineFeeds(text);

type AttachDeps = { store: EventStore; clock: Clock; actor: `support:${string}` };

/**
 * Records the note as the outcome of the accepted invoice, by the event with which log recovery gives a note back, so that the invoice is never sent.
 * The XML of the line is not recorded: nothing has checked its signature, so a download asks the authorizer for the note.
 * False when the invoice may have been sent or has another outcome meanwhile. Throws `StreamContended`.
 */
export const attachNote = ({ stream, data }: PlannedImport, deps: AttachDeps): Promise<boolean> => {
  const { accessKey, issuedAt } = data;
  const at = deps.clock.now();
  return decideAndAppend(stream, 'import_invoice', deps, (state): Decision => {
    if (accessKey === undefined || !isAccessKey(accessKey) || issuedAt === undefined) return stale('no note');
    const attempts = state.kind === 'invoice' ? state.attempts : [];
    if (!allCameToNothing(attempts)) return stale('a note may come of an attempt');
    const attempt = (attempts.at(-1)?.attempt ?? 0) + 1;
    const note = { accessKey, nfseNumber: numberOfKey(accessKey), authorizedAt: issuedAt };
    return decideAuthorized(state, { attempt, ...note, evidence: 'lookup', attemptLost: true, at });
  });
};
