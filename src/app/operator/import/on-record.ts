import { isAccessKey, providerOfKey } from '../../../domain/common/access-key.js';
import { publicInvoiceId } from '../../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore } from '../../../domain/common/time.js';
import type { Invoice, InvoiceState } from '../../../domain/invoice/state.js';
import { isCanceled } from '../../../domain/invoice/status.js';
import type { LoadedInvoice } from '../../read/read-invoice.js';
import type { Imported } from './import-line.js';

/** Whether the record has all of this line, also where its note ended after its import, or its test invoice was deleted since. `refused`: why not. */
export const checkOnRecord = (
  loaded: LoadedInvoice,
  data: Imported,
  deps: { now: Instant; testRetentionSeconds: number },
): 'same' | { refused: string; isOtherContent?: true } => {
  const { state, events } = loaded;
  const first = events[0];
  if (first?.type === 'InvoiceImported') {
    const fields = differences(first.data, data);
    if (fields.length === 0 || (isEndedSince(first.data, data, fields) && isCanceledOnRecord(state))) return 'same';
  }
  if (state.kind === 'deleted') return isOver(data, deps) ? 'same' : { refused: 'its life in test mode is over' };
  return { refused: otherContent(loaded, data), isOtherContent: true };
};

/** The note was canceled or replaced after the import that brought it, and the line differs in nothing else. */
const isEndedSince = (known: Imported, given: Imported, fields: readonly string[]): boolean =>
  known.state === 'issued' && given.state !== 'issued' && fields.every((field) => ENDED_SINCE.includes(field));

const ENDED_SINCE: readonly string[] = ['state', 'canceled_at', 'replaced_by'];

/** By a request, a settlement or an event at the authorizer. A replaced note is canceled too. */
const isCanceledOnRecord = (state: InvoiceState): boolean => state.kind === 'invoice' && isCanceled(state);

/**
 * A deleted test invoice that was already older than its life when it was imported: the same file again is the same invoice. So is an invoice
 * without `createdAt`, whose life began with its import.
 */
const isOver = ({ createdAt }: Imported, deps: { now: Instant; testRetentionSeconds: number }): boolean =>
  createdAt === undefined || isLifeOver(createdAt, deps);

/** Whether the life of a test invoice of this instant is over. */
export const isLifeOver = (
  createdAt: Instant,
  { now, testRetentionSeconds }: { now: Instant; testRetentionSeconds: number },
): boolean => !isBefore(now, addSeconds(createdAt, testRetentionSeconds));

/** What the line and the invoice on record have otherwise, without a value, and what to do. */
export const otherContent = ({ state, events }: LoadedInvoice, data: Imported): string => {
  const id = publicInvoiceId(data.invoiceId);
  const first = events[0];
  if (state.kind === 'reference_taken') {
    const holder = publicInvoiceId(state.invoiceId);
    return `its reference is held by ${holder}: where the line is that invoice, give it with "id": "${holder}"`;
  }
  const onRecord = `${id} is on record with other content`;
  if (state.kind !== 'invoice' || first === undefined) return onRecord;
  if (first.type !== 'InvoiceImported') return `${onRecord}: ${adviceOnAccepted(state, data)}`;
  const fields = differences(first.data, data);
  const named = fields.length === 1 ? `${fields.join()} differs` : `${fields.join(', ')} differ`;
  return `${onRecord}: ${named}. ${adviceOnImported(id, first.data, data, fields)}`;
};

const WITHOUT_NAME = 'give the line without id, reference and idempotency_key';

const adviceOnAccepted = ({ outcome }: Invoice, { accessKey }: Imported): string => {
  switch (outcome.status) {
    case 'issued':
      return accessKey === undefined
        ? 'it was issued here. Leave the line out, or give the access_key of its note'
        : `it was issued here with another note. Where both are of one sale, cancel one of the two; and ${WITHOUT_NAME}`;
    case 'failed':
      return `it was accepted here and has failed. Where the line is the note of that sale, ${WITHOUT_NAME}, and tell its client that this note counts`;
    default:
      return 'it was accepted here and may have been sent. Give the line again when that invoice has an outcome';
  }
};

const adviceOnImported = (id: string, known: Imported, given: Imported, fields: readonly string[]): string => {
  if (known.accessKey !== undefined && given.accessKey !== undefined && known.accessKey !== given.accessKey) {
    if (!hasOwnNationalKey(known))
      return 'The key on record is no national key of the company, and no command corrects it: leave the line out';
    return `The sale may have two notes: ${WITHOUT_NAME}`;
  }
  if (!isEndedSince(known, given, fields)) return 'No import changes an invoice on record: leave the line out';
  return hasOwnNationalKey(known)
    ? `Leave the line out, or record first that the note was ${given.state} since: nfse invoice resolve ${id} --as canceled --evidence portal`
    : 'It stays issued here, because Sefin knows no cancellation of a note without a national access_key: leave the line out';
};

/** Whether a look-up may find what became of the note: at Sefin, or at the ADN where a system of the municipality made the note. */
const hasOwnNationalKey = ({ accessKey, companyId }: Imported): boolean =>
  accessKey !== undefined && isAccessKey(accessKey) && providerOfKey(accessKey) === companyId;

/**
 * The fields of a line that are not as on record. The document is compared by its hash, because another version of gzip may pack the same bytes
 * differently. Earlier versions did not record the hash of the key, from which the id derives.
 */
const differences = (known: Imported & { importedAt?: Instant }, given: Imported): readonly string[] => {
  const { nfseXmlGzip: _xml, importedAt: _at, keyHash: _key, ...a } = known;
  const { nfseXmlGzip: _gzip, keyHash: _hash, ...b } = given;
  return differingFields(a, b, '');
};

const differingFields = (a: object, b: object, path: string): readonly string[] => {
  const known = new Map<string, unknown>(Object.entries(a));
  const given = new Map<string, unknown>(Object.entries(b));
  return [...new Set([...known.keys(), ...given.keys()])].flatMap((name) => {
    const [one, other] = [known.get(name), given.get(name)];
    if (isGroup(one) && isGroup(other)) return differingFields(one, other, `${path}${fieldName(name)}.`);
    return one === other ? [] : [`${path}${fieldName(name)}`];
  });
};

const isGroup = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** As the file calls it. */
const fieldName = (name: string): string =>
  FILE_NAMES[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const FILE_NAMES: Readonly<Record<string, string>> = { companyId: 'cnpj', nfseSha256: 'xml_file' };
