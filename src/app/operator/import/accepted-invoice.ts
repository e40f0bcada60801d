import { isAccessKey, numberOfKey, providerOfKey } from '../../../domain/common/access-key.js';
import { publicInvoiceId } from '../../../domain/common/ids.js';
import { withLineFeeds } from '../../../domain/common/line-ends.js';
import { present } from '../../../domain/common/present.js';
import { decideAuthorized } from '../../../domain/invoice/decide-issuance.js';
import { type Decision, stale } from '../../../domain/invoice/decision.js';
import type { Customer, ReadInvoiceEvent } from '../../../domain/invoice/events.js';
import type { InvoiceState } from '../../../domain/invoice/state.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventStore } from '../../event-store/event-store.js';
import { decideAndAppend } from '../../issuing/decide-and-append.js';
import type { LoadedInvoice } from '../../read/read-invoice.js';
import type { Imported, PlannedImport } from './import-line.js';

type Accepted = Extract<ReadInvoiceEvent, { type: 'InvoiceAccepted' }>['data'];

/**
 * Whether the line is the note of an accepted invoice that was never sent: a client repeated a request whose acceptance and note the log has lost.
 * Undefined for any other invoice. `problem`: what of the line contradicts the acceptance.
 */
export const noteOfAccepted = (
  { state, events }: LoadedInvoice,
  { data }: PlannedImport,
): 'fits' | 'recorded' | { problem: string } | undefined => {
  const first = events[0];
  if (first?.type !== 'InvoiceAccepted' || state.kind !== 'invoice') return undefined;
  const { outcome } = state;
  const isRecorded = outcome.status === 'issued' && outcome.accessKey === data.accessKey;
  if (!isRecorded && !isUnsent(state)) return undefined;
  const problem = contradictionOf(first.data, data);
  if (problem !== undefined) return { problem: `${publicInvoiceId(data.invoiceId)} ${problem}` };
  return isRecorded ? 'recorded' : 'fits';
};

const isUnsent = (state: InvoiceState): boolean =>
  state.kind === 'invoice' && state.outcome.status === 'open' && state.attempts.length === 0;

const contradictionOf = (accepted: Accepted, data: Imported): string | undefined => {
  const { accessKey, state, companyId, issuedAt } = data;
  if (state !== 'issued')
    return 'waits to be sent: give its note with the state issued, also when it was canceled since';
  if (accessKey === undefined || issuedAt === undefined) return 'waits to be sent: give the access_key of its note';
  if (!isAccessKey(accessKey)) return 'waits to be sent: access_key has a wrong check digit';
  if (providerOfKey(accessKey) !== companyId) return 'waits to be sent: access_key is of another company';
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
    ['customer', data.customer && documentOf(data.customer), documentOf(accepted.customer)],
    ['service_code', data.serviceCode, line.serviceCode],
    ['cnae', data.cnae, line.cnae],
    ['foreign_amount', data.foreignAmount?.amountInCents, foreignAmount?.amountInCents ?? 0],
  ];
  return compared.find(([, given, known]) => given !== undefined && given !== known)?.[0];
};

const lineFeeds = (text: string | undefined): string | undefined => text && withLineFeeds(text);

const documentOf = (customer: Customer | undefined): string =>
  (customer?.type === 'br' ? customer.document : customer?.taxId) ?? '';

type AttachDeps = { store: EventStore; clock: Clock; actor: `support:${string}` };

/**
 * Records the note as the outcome of the accepted invoice, by the event with which log recovery gives a note back, so that the invoice is never sent.
 * False when the invoice was sent or has another outcome meanwhile. Throws `StreamContended`.
 */
export const attachNote = ({ stream, data }: PlannedImport, deps: AttachDeps): Promise<boolean> => {
  const { accessKey, issuedAt, nfseXmlGzip, nfseSha256 } = data;
  const at = deps.clock.now();
  return decideAndAppend(stream, 'import_invoice', deps, (state): Decision => {
    if (accessKey === undefined || !isAccessKey(accessKey) || issuedAt === undefined) return stale('no note');
    if (state.kind === 'invoice' && state.attempts.length > 0) return stale('an attempt was made');
    const note = present({
      accessKey,
      nfseNumber: numberOfKey(accessKey),
      authorizedAt: issuedAt,
      nfseXmlGzip,
      nfseSha256,
    });
    return decideAuthorized(state, { attempt: 1, ...note, evidence: 'lookup', attemptLost: true, at });
  });
};
