import * as v from 'valibot';
import { type AccessKey, providerOfKey } from '../../../domain/common/access-key.js';
import {
  type InvoiceId,
  invoiceStream,
  type Mode,
  parseInvoiceId,
  type StreamName,
} from '../../../domain/common/ids.js';
import { centsFromDecimal } from '../../../domain/common/money.js';
import { present } from '../../../domain/common/present.js';
import { addSeconds, brasiliaDate, epochMs, type Instant, isBefore } from '../../../domain/common/time.js';
import { type Customer, type InvoiceEventData, invoicePersonalFields } from '../../../domain/invoice/events.js';
import type { FoundDocument } from '../../../domain/invoice/sent-document.js';
import type { AuthorizedNote } from '../../../ports/authorizer.js';
import { bodyHashOf, invoiceIdOfKey, invoiceIdOfReference, sha256Hex, uuidV8OfHash } from '../../event-store/hashes.js';
import { fitsIntoEvent, fitTogether } from '../../event-store/sealing.js';
import { packed } from '../../issuing/stored-documents.js';
import { cnpj, coded, day, explained, moment, problemsIf, shaped } from '../file-text.js';

const MAX_DESCRIPTION = 10_000;

/** No engine can store NUL and lone surrogates; everything else of an old text stays exactly as it was. */
const UNSTORABLE = /[\0\p{Cs}]/u;

const text = (max: number) =>
  v.pipe(
    v.string('must be a text'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(max, `is longer than ${max} characters`),
    v.check((value) => !UNSTORABLE.test(value), 'holds a character that cannot be stored'),
  );

const oneOf = <const T extends readonly string[]>(options: T) =>
  v.picklist(options, `must be one of ${options.join(', ')}`);

const cents = v.pipe(
  v.number('must be a number'),
  v.safeInteger('must be whole cents'),
  v.minValue(1, 'must be 1 or more'),
);

/** The check digit is not compared, because the key of an earlier system may be one that Sefin would not accept. */
const accessKey = shaped(/^\d{9}[0-9A-Z]{14}\d{27}$/, 'must be the 50 characters of an access key');

/** The form that the find route accepts. An invoice with a longer reference, or one with white space, could never be found by it. */
const reference = shaped(/^[^\s\p{Cc}\p{Cs}]{1,64}$/u, 'must be 1 to 64 characters without white space');

const customer = v.strictObject({
  type: v.optional(explained(oneOf(['br', 'foreign']), 'where the customer is', 'br'), 'br'),
  document: v.optional(
    explained(
      coded('must be a CPF or CNPJ', 'cpf', 'cnpj'),
      'CPF or CNPJ, digits only, with or without mask; of br only',
      '52998224725',
    ),
  ),
  name: v.optional(explained(text(300), 'name', 'Maria Exemplo')),
  tax_id: v.optional(explained(text(40), 'tax id abroad; of foreign only', 'X123')),
  tax_id_absence_reason: v.optional(
    explained(oneOf(['exempt', 'not_required']), 'why there is no tax id; of foreign only', 'exempt'),
  ),
  address: v.optional(
    v.strictObject({
      street: explained(text(255), 'street without number', 'Main Street'),
      number: explained(text(60), 'number', '1'),
      district: explained(text(60), 'district', 'Downtown'),
      city: explained(text(60), 'city', 'Springfield'),
      state: explained(text(60), 'state or province', 'Oregon'),
      postal_code: explained(text(11), 'postal code', '97477'),
      country: explained(shaped(/^[A-Z]{2}$/, 'must be two capital letters'), 'country, ISO 3166-1 alpha-2', 'US'),
    }),
  ),
});

/** One line of an import file, without the rules between its fields. */
export const importFields = v.strictObject({
  cnpj: explained(cnpj, 'CNPJ of the company, with or without mask', '12345678000195'),
  mode: explained(oneOf(['test', 'live']), 'mode of the invoice', 'live'),
  origin: explained(
    oneOf(['legacy', 'web', 'manual']),
    'where it was made: an earlier system, the web interface, or attached by hand; the API refuses for good to cancel what is manual',
    'legacy',
  ),
  state: explained(oneOf(['issued', 'canceled', 'replaced']), 'what it is now', 'issued'),
  id: v.optional(
    explained(
      v.pipe(
        v.string('must be a text'),
        v.check((id) => parseInvoiceId(id) !== undefined, 'must be nfse_ and a UUID'),
        v.transform((id) => parseInvoiceId(id) ?? id),
      ),
      'id that clients know it by; without it one is made',
      'nfse_1509e366-3367-4533-a763-2cd0f5699b18',
    ),
  ),
  amount_in_cents: explained(cents, 'amount in cents of real, 1 or more', 125000),
  description: v.optional(explained(text(MAX_DESCRIPTION), 'description of the service', 'Desenvolvimento de sistema')),
  competence: v.optional(
    explained(
      day,
      'competence, a date; without it the day of created_at or issued_at in Brasília is taken, unless origin is web',
      '2025-03-31',
    ),
  ),
  customer: v.optional(customer),
  foreign_amount: v.optional(
    v.strictObject({
      currency: explained(shaped(/^[A-Z]{3}$/, 'must be three capital letters'), 'currency, ISO 4217', 'USD'),
      amount_in_cents: explained(cents, 'amount in hundredths of that currency', 25000),
    }),
  ),
  reference: v.optional(
    explained(reference, "the client's reference, up to 64 characters without white space", 'pedido-1'),
  ),
  idempotency_key: v.optional(
    explained(
      shaped(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible characters of ASCII'),
      'Idempotency-Key of the request that made it, where neither id nor reference is known: a repeated request is refused then',
      'venda-1042',
    ),
  ),
  service_code: v.optional(
    explained(coded('must be 6 digits', 'serviceCode'), 'national service code, with or without mask', '010101'),
  ),
  cnae: v.optional(explained(coded('must be 7 digits', 'cnae'), 'CNAE, with or without mask', '6201501')),
  access_key: v.optional(
    explained(accessKey, 'access key of the note, 50 characters', '33045572212345678000195000000000000125031234567892'),
  ),
  created_at: v.optional(
    explained(moment, 'when it was asked for, an instant with its zone', '2025-03-31T14:05:00-03:00'),
  ),
  issued_at: v.optional(
    explained(moment, 'when it was issued; required unless canceled or in xml_file', '2025-03-31T14:05:09-03:00'),
  ),
  canceled_at: v.optional(
    explained(moment, 'when it was canceled; of the state canceled only', '2025-04-01T09:00:00-03:00'),
  ),
  replaced_by: v.optional(explained(text(60), 'the note that replaces it; of the state replaced only', '1468')),
  xml_file: v.optional(
    explained(text(1_000), 'file of the authorized XML, named from the folder of the imported file', 'notas/1467.xml'),
  ),
});

type ImportLine = v.InferOutput<typeof importFields>;

/** One line of the file of `invoice import`. The result has instants in UTC and the id without its prefix. */
const importLine = v.pipe(
  importFields,
  v.rawCheck(({ dataset, addIssue }) => {
    if (dataset.typed) for (const message of contradictions(dataset.value)) addIssue({ message });
  }),
);

type Parsed = { line: ImportLine } | { problems: readonly string[] };

/** Every problem is one sentence that begins with the name of the field; no value is quoted. */
export const parseImportLine = (text: string): Parsed => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { problems: ['is not JSON'] };
  }
  const parsed = v.safeParse(importLine, json);
  if (parsed.success) return { line: parsed.output };
  return { problems: parsed.issues.map((issue) => `${fieldOf(issue)} ${plain(issue)}`.trim()) };
};

/** The name of an unknown field is the file's own and may hold line breaks. */
const fieldOf = (issue: v.BaseIssue<unknown>): string => (v.getDotPath(issue) ?? '').replace(/\p{Cc}/gu, '\uFFFD');

const plain = (issue: { expected: string | null; received: string; message: string }): string => {
  if (issue.expected === 'never') return 'is not a known field';
  if (issue.received === 'undefined') return 'is missing';
  return issue.message.startsWith('Invalid') ? 'must be a JSON object' : issue.message;
};

const contradictions = (line: ImportLine): readonly string[] => {
  const { state, canceled_at, replaced_by, customer: sent } = line;
  return problemsIf([
    [
      line.idempotency_key !== undefined && (line.id ?? line.reference) !== undefined,
      'idempotency_key goes without id and reference',
    ],
    [canceled_at !== undefined && state !== 'canceled', 'canceled_at goes with the state canceled only'],
    [replaced_by !== undefined && state !== 'replaced', 'replaced_by goes with the state replaced only'],
    [sent?.type === 'foreign' && sent.address === undefined, 'customer.address is missing'],
    [sent?.type === 'foreign' && sent.document !== undefined, 'customer.document is not for foreign ones'],
    [
      sent?.type === 'br' && (sent.tax_id ?? sent.tax_id_absence_reason ?? sent.address) !== undefined,
      'customer.tax_id and customer.address are for foreign ones only',
    ],
  ]);
};

/** A customer without document and name is left out. */
const customerOf = ({ customer: sent }: ImportLine): Customer | undefined => {
  if (sent === undefined) return undefined;
  const { document, name, tax_id: taxId, tax_id_absence_reason: taxIdAbsenceReason, address } = sent;
  if (sent.type === 'foreign' && address !== undefined) {
    const { postal_code: postalCode, ...rest } = address;
    return present({ type: sent.type, name, taxId, taxIdAbsenceReason, address: { ...rest, postalCode } });
  }
  if (document === undefined && name === undefined) return undefined;
  return present({ type: 'br' as const, document, name });
};

export type Imported = Omit<InvoiceEventData<'InvoiceImported'>, 'importedAt'>;

/** What one line becomes. */
export type PlannedImport = {
  stream: StreamName;
  data: Imported;
  /** The stream that the reference derives, when the invoice has another id. */
  reservation?: StreamName;
  /** The access key of a live note, which is reserved too. */
  liveKey?: string;
  /** In the note, when the line has its XML. */
  dps?: EmbeddedDps;
  /** The line names the invoice by its id. */
  namesId?: true;
  /** Why no new import takes the line. An import on record may hold such a line of an earlier version. */
  objections: readonly string[];
};

/**
 * What an import reads from an authorized NFS-e. `authorizedAt`: its `dhProc`. `mode`: that of its environment (`tpAmb`), undefined without a known
 * one.
 */
type NoteFacts = EmbeddedDps & {
  accessKey: AccessKey;
  authorizedAt: Instant;
  mode?: Mode | undefined;
};

/** The DPS in a note, with what tells who sent it. */
export type EmbeddedDps = FoundDocument & Pick<AuthorizedNote, 'dpsId' | 'content'>;

/** Without the bytes of the note, which would fill the memory. */
const embeddedDps = (note: EmbeddedDps): EmbeddedDps => {
  const { dpsId, content, digest, signatureMark, contradiction, misfit, signatureFault } = note;
  return present({ dpsId, content, digest, signatureMark, contradiction, misfit, signatureFault });
};

export type NoteFiles = {
  /** `file`: as the line names it; undefined when the file cannot be read. */
  readXml(file: string): Promise<Buffer | undefined>;
  /** Undefined for anything but an NFS-e of the national layout. */
  readNote(xml: Buffer): NoteFacts | undefined;
};

type PlanResult = { plan: PlannedImport } | { problems: readonly string[] };

/** Completes a line from its XML and checks that it has what the API promises of every such invoice (docs/contract.md#invoice). */
export const planLine = async (line: ImportLine, files: NoteFiles, now: Instant): Promise<PlanResult> => {
  const xml = line.xml_file === undefined ? undefined : await files.readXml(line.xml_file);
  if (line.xml_file !== undefined && xml === undefined) return { problems: ['xml_file cannot be read'] };
  const note = xml === undefined ? undefined : files.readNote(xml);
  if (xml !== undefined && note === undefined) return { problems: ['xml_file is no NFS-e of the national layout'] };
  const data = dataOf(line, note, xml);
  const problems = problemsIf([
    [note !== undefined && data.accessKey !== note.accessKey, 'access_key is not that of xml_file'],
    [note !== undefined && providerOfKey(note.accessKey) !== line.cnpj, 'xml_file is of another company'],
    [note?.mode !== undefined && note.mode !== line.mode, 'xml_file is of the other mode'],
    [data.nfseXmlGzip !== undefined && !fitsIntoEvent(data.nfseXmlGzip), 'xml_file is too large'],
    [data.issuedAt === undefined && line.state !== 'canceled', `issued_at is missing (state ${line.state})`],
    [
      data.competence === undefined && line.origin !== 'web',
      `competence is missing (origin ${line.origin}): give competence, created_at or issued_at`,
    ],
  ]);
  if (problems.length > 0) return { problems };
  const { mode, companyId, invoiceId, reference, accessKey: key } = data;
  const derived = reference === undefined ? invoiceId : invoiceIdOfReference(mode, companyId, reference);
  return {
    plan: present({
      stream: invoiceStream(mode, companyId, invoiceId),
      data,
      reservation: derived === invoiceId ? undefined : invoiceStream(mode, companyId, derived),
      liveKey: mode === 'live' ? key : undefined,
      dps: note && embeddedDps(note),
      namesId: line.id === undefined ? undefined : (true as const),
      objections: problemsIf([
        [hasLetters(line), WITH_LETTERS],
        [!fitTogether(data, invoicePersonalFields.InvoiceImported), TOO_LARGE],
        ...contradictionsWith(line, note),
        ...contradictionsIn(data, now),
      ]),
    }),
  };
};

/** An append would find this out when other lines are imported already. */
const TOO_LARGE = 'xml_file and description are together too large to be recorded: shorten description';

const WITH_LETTERS = 'customer.document is a CNPJ with letters, which the API does not take yet: leave document out';

/** Answers hold CPFs and CNPJs of digits only (CUST-document). */
const hasLetters = ({ customer: sent }: ImportLine): boolean => /[A-Z]/.test(sent?.document ?? '');

/** What the line says otherwise than its XML. The month of `issued_at` decides until when the note can be canceled (INV-cancelable_until). */
const contradictionsWith = (
  { issued_at: issuedAt, amount_in_cents: cents }: ImportLine,
  note: NoteFacts | undefined,
): readonly [boolean, string][] => {
  if (note === undefined) return [];
  const { authorizedAt, content } = note;
  const { amount } = content;
  return [
    [
      issuedAt !== undefined && secondOf(issuedAt) !== secondOf(authorizedAt),
      `issued_at is ${issuedAt}, and dhProc of xml_file is ${authorizedAt}: leave issued_at out`,
    ],
    [
      cents !== centsFromDecimal(amount),
      `amount_in_cents is ${cents}, and vServ of xml_file is ${amount || 'missing'}: give that in cents`,
    ],
  ];
};

/** The authorizer's clock and that of an earlier system may be this far before our own clock. */
const FUTURE_SECONDS = 300;

/**
 * What would make the service act wrongly: an `issued_at` to come would open the cancellation of a month that is over (INV-cancelable_until), and a
 * `created_at` to come would keep a test invoice past its seven days (LIMIT-15).
 */
const contradictionsIn = (
  { createdAt, issuedAt, canceledAt }: Imported,
  now: Instant,
): readonly [boolean, string][] => {
  const isToCome = (at: Instant | undefined): boolean =>
    at !== undefined && isBefore(addSeconds(now, FUTURE_SECONDS), at);
  const endsFirst = issuedAt !== undefined && canceledAt !== undefined && isBefore(canceledAt, issuedAt);
  return [
    [isToCome(createdAt), `created_at is ${createdAt}, which is still to come`],
    [isToCome(issuedAt), `issued_at is ${issuedAt}, which is still to come`],
    [isToCome(canceledAt), `canceled_at is ${canceledAt}, which is still to come`],
    [endsFirst, `canceled_at is ${canceledAt}, before the note was issued, ${issuedAt}`],
  ];
};

/** `dhProc` has whole seconds (docs/national-system.md#date-and-time-types). An earlier system may have added a fraction. */
const secondOf = (at: Instant): number => Math.floor(epochMs(at) / 1000);

const dataOf = (line: ImportLine, note: NoteFacts | undefined, xml: Buffer | undefined): Imported => {
  const { mode, cnpj: companyId, origin, state, description, reference, cnae } = line;
  const issuedAt = line.issued_at ?? note?.authorizedAt;
  const received = line.created_at ?? issuedAt;
  const madeOnTheWeb = origin === 'web';
  const foreign = line.foreign_amount;
  return present({
    mode,
    companyId,
    invoiceId: idOf(line),
    origin,
    state,
    amountInCents: line.amount_in_cents,
    description,
    // The competence is the day in Brasília on which the call was received. A note made on the web may have had no call.
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
    nfseXmlGzip: xml && packed(xml),
    nfseSha256: xml && sha256Hex(xml),
    keyHash: line.idempotency_key && sha256Hex(line.idempotency_key),
  });
};

/**
 * The id of the line, else the id that a request with this reference or key would get, else an id derived from the content, so that a repeated line
 * is the same invoice.
 */
const idOf = ({ xml_file: _xml, ...line }: ImportLine): InvoiceId => {
  const { id, mode, cnpj, reference, idempotency_key: key } = line;
  if (id !== undefined) return id;
  if (reference !== undefined) return invoiceIdOfReference(mode, cnpj, reference);
  return key === undefined
    ? uuidV8OfHash(bodyHashOf({ imported: line }))
    : invoiceIdOfKey(mode, cnpj, sha256Hex(key), 0);
};
