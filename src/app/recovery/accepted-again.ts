import { publicInvoiceId, type StreamName } from '../../domain/common/ids.js';
import { decimalFromCents } from '../../domain/common/money.js';
import type { AuthorizedNote } from '../../ports/authorizer.js';
import { customerDocumentOf } from '../issuing/found-documents.js';
import { type Candidate, candidatesOf } from './adopt-note.js';
import type { FoundNote, RecoveryDeps, SeriesToCompare } from './ask-series.js';

type Ownerless = { found: FoundNote; owner?: StreamName };

/**
 * Adds to each of these notes without an invoice the public ids of the open invoices that have its amount and customer and no attempt. A client
 * may repeat a request whose acceptance the log has lost, and a process that has not seen the loss accepts the request again. The acceptance then
 * has another instant, and so its DPS another digest, and its description another text where a date marker was expanded on another day.
 */
export const withAcceptedAgain = async <Note extends Ownerless>(
  notes: readonly Note[],
  wanted: SeriesToCompare,
  open: readonly StreamName[],
  deps: Pick<RecoveryDeps, 'store'>,
): Promise<readonly (Note & { acceptedAgain?: readonly string[] })[]> => {
  const unsent = notes.length === 0 ? [] : (await candidatesOf(wanted, open, deps)).filter(isUnsent);
  return notes.map((left) => {
    if (left.owner !== undefined) return left;
    const equal = unsent.filter((one) => hasSameAmountAndCustomer(left.found.note, one));
    const ids = equal.flatMap(({ state }) =>
      state.kind === 'invoice' ? [publicInvoiceId(state.facts.invoiceId)] : [],
    );
    return ids.length === 0 ? left : { ...left, acceptedAgain: ids };
  });
};

const hasSameAmountAndCustomer = ({ content }: AuthorizedNote, { events }: Candidate): boolean =>
  events.some(
    (event) =>
      event.type === 'InvoiceAccepted' &&
      content.amount === decimalFromCents(event.data.amountInCents) &&
      content.customerDocument === customerDocumentOf(event.data.customer),
  );

/** Without a description, whose key is gone, the invoice cannot be sent. */
const isUnsent = ({ state, events }: Candidate): boolean =>
  state.kind === 'invoice' &&
  state.outcome.status === 'open' &&
  state.attempts.length === 0 &&
  events.some((event) => event.type === 'InvoiceAccepted' && event.data.description !== undefined);
