import { type AccessKey, numberOfKey } from '../../domain/common/access-key.js';
import type { StreamName } from '../../domain/common/ids.js';
import { centsFromDecimal } from '../../domain/common/money.js';
import { epochMs, type Instant, instantOfStamp } from '../../domain/common/time.js';
import type { Customer, InvoiceEvent, InvoiceEventOf } from '../../domain/invoice/events.js';
import type { DocumentTexts } from '../../ports/documents.js';
import type { RecordedEvent } from '../../ports/event-log.js';
import { customerDocumentOf } from '../issuing/found-documents.js';
import { ENDS_SENDING } from './documents-of-stream.js';
import { checkShape } from './event-shape.js';
import type { OpenedFields } from './opened-fields.js';

type Texts = NonNullable<ReturnType<DocumentTexts>>;

/** What an open invoice has accepted. `customerDocument`: empty without a customer, undefined where the customer cannot be opened. */
type Accepted = InvoiceEventOf<'InvoiceAccepted'>['data'] & { customerDocument: string | undefined };

/**
 * Checks that a document says what the clear fields of the log say. A DPS and the note around it are compared with the acceptance of their invoice.
 * Number and instant of a note, and the instant of a cancellation, are compared with their own event. Only what every version wrote in the same way is
 * compared. A note that support found is compared by its own event alone, and an import is not compared, because its file says what it records.
 */
export const createContentCheck = (textsOf: DocumentTexts) => {
  const open = new Map<StreamName, Accepted>();
  return {
    faultOf: (stream: StreamName, { type, data }: InvoiceEvent, xml: Buffer): string | undefined => {
      const texts = textsOf(xml);
      if (texts === undefined) return undefined;
      switch (type) {
        case 'IssuanceAttempted':
          return contentFault('DPS', 'DPS/infDPS', open.get(stream), texts);
        case 'Authorized':
          return noteFault(data, texts) ?? contentFault('NFS-e', 'NFSe/infNFSe/DPS/infDPS', open.get(stream), texts);
        case 'IndeterminateResolved':
          return data.as === 'issued' ? noteFault(data, texts) : undefined;
        case 'CancellationConfirmed':
        case 'CancellationSettledBySupport':
        case 'NoteCanceledElsewhere':
          return isAt(texts('evento/infEvento/dhProc'), data.canceledAt)
            ? undefined
            : 'the evento has another instant than was recorded';
        default:
          return undefined;
      }
    },
    /** Called after each event, also when its document could not be opened. */
    afterEvent: (recorded: RecordedEvent, { type, data }: InvoiceEvent, opened: OpenedFields): void => {
      if (ENDS_SENDING.has(type)) open.delete(recorded.stream);
      // Data of another shape has a finding already, and may lack any field.
      if (type !== 'InvoiceAccepted' || 'fault' in checkShape(recorded)) return;
      open.set(recorded.stream, { ...data, customerDocument: documentIn(recorded, opened) });
    },
  };
};

const documentIn = ({ data }: RecordedEvent, opened: OpenedFields): string | undefined => {
  if (data.customer === undefined) return '';
  const customer = opened.get('customer');
  return typeof customer === 'object' ? customerDocumentOf(customer.value as Customer) : undefined;
};

const noteFault = (
  { accessKey, nfseNumber, authorizedAt }: { accessKey: AccessKey; nfseNumber: string; authorizedAt: Instant },
  texts: Texts,
): string | undefined => {
  // Earlier versions recorded the text of the element and not the number in the key.
  if (nfseNumber !== numberOfKey(accessKey) && nfseNumber !== texts('NFSe/infNFSe/nNFSe'))
    return 'the NFS-e has another number than was recorded';
  return isAt(texts('NFSe/infNFSe/dhProc'), authorizedAt)
    ? undefined
    : 'the NFS-e has another instant than was recorded';
};

/** Also true for a stamp that cannot be read. Stamps have whole seconds. */
const isAt = (stamp: string | undefined, at: Instant): boolean => {
  const stamped = stamp === undefined ? undefined : instantOfStamp(stamp);
  return stamped === undefined || Math.floor(epochMs(stamped) / 1_000) === Math.floor(epochMs(at) / 1_000);
};

const contentFault = (
  document: string,
  path: string,
  accepted: Accepted | undefined,
  texts: Texts,
): string | undefined => {
  if (accepted === undefined) return undefined;
  const { companyId, amountInCents, foreignAmount, line, competence, customerDocument } = accepted;
  const at = (name: string): string | undefined => texts(`${path}/${name}`);
  const cents = (name: string) => centsFromDecimal(at(name) ?? '');
  const foundDocument = at('toma/CNPJ') ?? at('toma/CPF') ?? at('toma/NIF') ?? '';
  const differences = [
    ...(at('prest/CNPJ') === companyId ? [] : ['provider']),
    ...(cents('valores/vServPrest/vServ') === amountInCents ? [] : ['amount']),
    ...(cents('serv/comExt/vServMoeda') === foreignAmount?.amountInCents ? [] : ['amount in foreign currency']),
    ...(at('serv/cServ/cTribNac') === line.serviceCode ? [] : ['service']),
    ...(at('dCompet') === competence ? [] : ['competence']),
    ...(customerDocument === undefined || foundDocument.trim() === customerDocument.trim()
      ? []
      : ['document of the customer']),
  ];
  return differences.length === 0
    ? undefined
    : `the ${document} has another ${differences.join(' and another ')} than was accepted`;
};
