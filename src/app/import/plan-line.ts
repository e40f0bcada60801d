import { gzipSync } from 'node:zlib';
import type { InvoiceEventData } from '../../domain/invoice/events.js';
import { type InvoiceId, invoiceStream, type StreamName } from '../../domain/shared/ids.js';
import { brasiliaDate, type Instant } from '../../domain/shared/time.js';
import { MAX_EVENT_BYTES } from '../../ports/event-log.js';
import { bodyHashOf, invoiceIdOfReference, sha256Hex, uuidV8OfHash } from '../hashes.js';
import { customerOf, type ImportLine } from './import-line.js';

export type Imported = Omit<InvoiceEventData<'InvoiceImported'>, 'importedAt'>;

/** What one line becomes. `reservation`: the derived stream of a reference that another id holds. */
export type Plan = { stream: StreamName; data: Imported; reservation?: StreamName };

/** What must be known of an authorized NFS-e to take it over. */
export type NoteFacts = { accessKey: string; authorizedAt: Instant };

export type NoteFiles = {
  /** As the line names it; undefined when it cannot be read. */
  readXml(file: string): Promise<Buffer | undefined>;
  /** Undefined for anything but an NFS-e of the national layout. */
  readNote(xml: Buffer): NoteFacts | undefined;
};

type Planned = { plan: Plan } | { problems: readonly string[] };

/** Completes a line from its XML and checks what the spec promises of every invoice of its kind. */
export const planLine = async (line: ImportLine, files: NoteFiles): Promise<Planned> => {
  const xml = line.xml_file === undefined ? undefined : await files.readXml(line.xml_file);
  if (line.xml_file !== undefined && xml === undefined) return { problems: ['xml_file cannot be read'] };
  const note = xml === undefined ? undefined : files.readNote(xml);
  if (xml !== undefined && note === undefined) return { problems: ['xml_file is no NFS-e of the national layout'] };
  const data = dataOf(line, note, xml);
  const problems = [
    ...noteProblems(line, note),
    ...(data.nfseXmlGzip !== undefined && storedBytes(data.nfseXmlGzip) > MAX_EVENT_BYTES
      ? ['xml_file is too large']
      : []),
    ...(data.issuedAt === undefined && line.state !== 'canceled' ? [`issued_at is missing (state ${line.state})`] : []),
    ...(data.competence === undefined && line.origin !== 'web'
      ? [`competence is missing (origin ${line.origin})`]
      : []),
  ];
  if (problems.length > 0) return { problems };
  const { mode, companyId, invoiceId, reference } = data;
  const derived = reference === undefined ? invoiceId : invoiceIdOfReference(mode, companyId, reference);
  return {
    plan: {
      stream: invoiceStream(mode, companyId, invoiceId),
      data,
      ...(derived === invoiceId ? {} : { reservation: invoiceStream(mode, companyId, derived) }),
    },
  };
};

const dataOf = (line: ImportLine, note: NoteFacts | undefined, xml: Buffer | undefined): Imported => {
  const { mode, cnpj: companyId, origin, state, description, reference, cnae } = line;
  const issuedAt = line.issued_at ?? note?.authorizedAt;
  const received = line.created_at ?? issuedAt;
  const madeOnTheWeb = origin === 'web';
  const foreign = line.foreign_amount;
  return present({
    ...{ mode, companyId, invoiceId: idOf(line), origin, state },
    amountInCents: line.amount_in_cents,
    description,
    // The day the call was received in Brasília is what a competence is; on the web there may have been none.
    competence: line.competence ?? (madeOnTheWeb || received === undefined ? undefined : brasiliaDate(received)),
    customer: customerOf(line),
    foreignAmount: foreign && { currency: foreign.currency, amountInCents: foreign.amount_in_cents },
    reference,
    serviceCode: line.service_code,
    cnae,
    accessKey: line.access_key ?? note?.accessKey,
    createdAt: line.created_at,
    issuedAt,
    canceledAt: line.canceled_at,
    replacedBy: line.replaced_by,
    nfseXmlGzip: xml && gzipSync(xml).toString('base64'),
    nfseSha256: xml && sha256Hex(xml),
  });
};

/** The line's own id, else its reference's, else one made of what the line says, so that repeating it is the same invoice. */
const idOf = ({ xml_file: _xml, ...line }: ImportLine): InvoiceId => {
  if (line.id !== undefined) return line.id;
  return line.reference === undefined
    ? uuidV8OfHash(bodyHashOf({ imported: line }))
    : invoiceIdOfReference(line.mode, line.cnpj, line.reference);
};

/** Where the provider's CNPJ stands in an access key. */
export const providerOfKey = (accessKey: string): string => accessKey.slice(9, 23);

const noteProblems = (line: ImportLine, note: NoteFacts | undefined): readonly string[] => {
  if (note === undefined) return [];
  return [
    ...(line.access_key !== undefined && line.access_key !== note.accessKey
      ? ['access_key is not that of xml_file']
      : []),
    ...(providerOfKey(note.accessKey) === line.cnpj ? [] : ['xml_file is of another company']),
  ];
};

/** Sealing makes base64 of the base64; names, ids and the other fields fit in the allowance. */
const storedBytes = (gzipBase64: string): number => Math.ceil((gzipBase64.length * 4) / 3) + 64 * 1024;

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** An absent field is absent in storage too. */
const present = <T extends object>(fields: T): Present<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
