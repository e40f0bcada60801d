import {
  type CompanyId,
  type Mode,
  parseInvoiceStream,
  publicInvoiceId,
  type StreamName,
} from '../../../domain/common/ids.js';
import { addSeconds, type Instant, isBefore } from '../../../domain/common/time.js';
import type { Clock } from '../../../ports/clock.js';
import type { EventLog, RecordedEvent, Revision } from '../../../ports/event-log.js';
import type { ReadModel } from '../../../ports/read-model.js';
import type { SealingKeys } from '../../../ports/sealing-keys.js';
import { appendAudit } from '../../audit/audit-trail.js';
import { sealedFieldsOf } from '../../event-store/codec.js';
import type { EventStore } from '../../event-store/event-store.js';
import { sealedWith } from '../../event-store/sealing.js';
import type { WalkProgress } from '../../event-store/walk-log.js';
import { keyGoneAt, sealingDayOf } from '../../retention/test-retention.js';
import { documentMark, mentions, type PersonalDocument } from './document.js';
import { type FoundHoldings, type FoundStream, findInvoices } from './find-invoices.js';

export type PrivacyReport = {
  /** `mark`: the keyed hash that the audit event holds in place of the document. */
  document: { kind: PersonalDocument['kind']; mark: string };
  at: Instant;
  totals: FoundHoldings['totals'];
  /** The first invoices that were found, in the order of the log. */
  invoices: readonly InvoiceHoldings[];
  registry: FoundHoldings['registry'];
  /** Companies of this service that have this CNPJ, or whose legal name holds the document (a MEI's may). Company data is not sealed. */
  companies: readonly string[];
  unreadable: number;
  unopened: FoundHoldings['unopened'];
  holdings: readonly Holding[];
};

export type PrivacyDeps = {
  log: Pick<EventLog, 'readAll' | 'read' | 'head'>;
  store: EventStore;
  readModel: Pick<ReadModel, 'invoice' | 'companies'>;
  sealingKeys: SealingKeys;
  clock: Clock;
  testRetentionSeconds: number;
  /** Narrows the report to the invoices and the registration of this company, which answers for its own customers. */
  companyId?: CompanyId | undefined;
  actor: `support:${string}`;
  onProgress?(progress: WalkProgress): void;
};

/**
 * Where the data of a person's document is kept, why and until when, for a request of the data subject. The request is recorded with its actor
 * before anything is opened. Neither the event nor the report holds the document or anything that was opened.
 */
export const reportOn = async (
  document: PersonalDocument,
  limit: number,
  deps: PrivacyDeps,
): Promise<PrivacyReport> => {
  const { log, store, clock, actor, sealingKeys: keys, readModel, companyId } = deps;
  const mark = await documentMark(document, keys, clock);
  const seen = { command: 'privacy report', subject: `document ${mark}` };
  await appendAudit('PersonalDataRevealed', seen, { store, clock, actor });
  const progress = deps.onProgress === undefined ? {} : { onProgress: deps.onProgress };
  const found = await findInvoices(document, limit, { companyId, log, keys, ...progress });
  const invoices: InvoiceHoldings[] = [];
  for (const one of found.invoices) invoices.push(await describeInvoice(one, deps));
  const companies = (await readModel.companies()).flatMap(({ registration: { cnpj, legalName } }) =>
    (companyId ?? cnpj) === cnpj && (cnpj === document.text || mentions(legalName, document)) ? [cnpj] : [],
  );
  return { ...found, document: { kind: document.kind, mark }, at: clock.now(), invoices, companies, holdings };
};

/** What a place holds of any customer. Every report lists all places, so that it is complete (LGPD art. 18 and 19). */
type Holding = { place: string; holds: string; why: string; until: string };

/** A program cannot know how long tax law demands; the text names the legal term and who can say it. */
const TAX_TERM = 'prazo decadencial/prescricional tributário: confirm with your accountant. The service deletes none';
const OBLIGATION = 'fiscal document and its proof: legal obligation (Lei 13.709/2018, art. 7, II and art. 16, I)';

const holdings: readonly Holding[] = [
  {
    place: 'event log, live invoices',
    holds:
      'customer, description, texts of cancellations and settlements, signed documents, answers of the authorizer: each field sealed; the reference in clear',
    why: OBLIGATION,
    until: TAX_TERM,
  },
  {
    place: 'event log, test invoices',
    holds: 'the same, of rehearsals without fiscal value',
    why: 'the client asked for a test',
    until:
      'the end of the invoice; in EventStoreDB its files until the next scavenge, unreadable once the keys are gone',
  },
  {
    place: 'read model',
    holds: 'customer, description and texts, sealed as in the log; the reference in clear',
    why: 'answers are made from it',
    until: 'as the events, also in the generation that is kept for a rollback',
  },
  {
    place: 'guards',
    holds: 'hashes of requests, keys and descriptions, nothing in clear',
    why: 'a repeated request must not issue twice',
    until: 'a day; for a request with a key IDEMPOTENCY_TTL_S, by default a day too',
  },
  { place: 'queue', holds: 'names of streams, nothing personal', why: 'work to do', until: 'the work is done' },
  {
    place: 'memory of the processes',
    holds: 'invoices read lately, opened; PDFs drawn lately; single words of them, without order and owner',
    why: 'speed',
    until: 'others take their place or the process ends; test invoices and their PDFs a minute after their end',
  },
  {
    place: 'local tax registry',
    holds: 'legal name and address of CNPJs that operators entered, sealed',
    why: 'names on invoices are those of the registry',
    until: 'the log keeps every version that was entered',
  },
  {
    place: 'company registrations and actors',
    holds:
      'legal names of companies of this service, with the CPF that the name of a MEI has, and names of operators, with IP addresses at the console: in clear in events, rows, exports and backups; notes show the legal name too',
    why: 'a company is named on its notes, and an event says who did what',
    until: 'the log keeps every version that was entered, and every event',
  },
  {
    place: 'exports of events',
    holds:
      'the sealed fields; what is in clear in the log; all of it when made with --reveal, which audit-reveals names',
    why: 'audit',
    until: 'the operator who made them deletes them; sealed test fields are unreadable once the keys are gone',
  },
  {
    place: 'backups',
    holds: 'the sealed fields; those of nfse backup have no key of a test day',
    why: 'to survive a loss',
    until: 'you delete them; test fields are unreadable once the keys are gone, if the backup holds no such key',
  },
  { place: 'logs and metrics', holds: 'nothing personal, at any level', why: '-', until: '-' },
  {
    place: 'the authorizer',
    holds: 'every DPS that was sent and every note; the simulator keeps them in its folder',
    why: 'it is the tax authority, and answers for its own data',
    until: 'its rules',
  },
];

/** Where the data of one invoice is kept, and until when. Holds names of fields, never their content. */
export type InvoiceHoldings = {
  id: string;
  company: string;
  mode: Mode;
  stream: StreamName;
  foundIn: FoundStream['foundIn'];
  /** Events with sealed fields. Empty for a deleted test invoice. */
  events: readonly { revision: Revision; type: string; at: Instant; sealed: readonly string[] }[];
  /** A row of the read model carries customer and description, sealed as in the log. */
  inReadModel: boolean;
  /** Absent for live invoices. */
  test?: TestLife;
};

type TestLife = {
  /** When it vanishes from reads. Rows and events follow with the next sweep. */
  ends: Instant;
  /** Its end has passed, and the sweeper has not deleted it. */
  isOver: boolean;
  /** From when on no copy can be opened, once the key is destroyed. */
  unreadable: Instant;
  /** A key that sealed one of its fields is still there. */
  keyIsKept: boolean;
};

const describeInvoice = async ({ stream, foundIn }: FoundStream, deps: PrivacyDeps): Promise<InvoiceHoldings> => {
  const { log, readModel } = deps;
  const address = parseInvoiceStream(stream);
  if (address === undefined) throw new Error('an invoice was found in a stream that is none');
  const recorded = await log.read(stream);
  const row = await readModel.invoice(stream);
  const { mode, companyId } = address;
  const first = recorded[0];
  return {
    id: publicInvoiceId(address.invoiceId),
    company: companyId,
    mode,
    stream,
    foundIn,
    events: recorded.map(sealedOf).filter(({ sealed }) => sealed.length > 0),
    inReadModel: row?.state.kind === 'invoice',
    ...(mode === 'live' || first === undefined ? {} : { test: await testLifeOf(first, recorded, deps) }),
  };
};

const testLifeOf = async (
  first: RecordedEvent,
  recorded: readonly RecordedEvent[],
  { clock, sealingKeys, testRetentionSeconds }: PrivacyDeps,
): Promise<TestLife> => {
  const ends = addSeconds(lifeBeganAt(first), testRetentionSeconds);
  let keyIsKept = false;
  // A key that cannot be read is there, and a cure may bring it back.
  for (const generation of new Set(recorded.flatMap(generationsOf)))
    keyIsKept ||= await sealingKeys.forOpening(generation, first.stream).then(
      (key) => key !== undefined,
      () => true,
    );
  return { ends, isOver: !isBefore(clock.now(), ends), unreadable: unreadableAt(recorded), keyIsKept };
};

const generationsOf = (event: RecordedEvent): readonly string[] =>
  sealedFieldsOf(event).flatMap(({ text }) => sealedWith(text)?.generation ?? []);

const sealedOf = (recorded: RecordedEvent): InvoiceHoldings['events'][number] => ({
  revision: recorded.revision,
  type: recorded.type,
  at: recorded.metadata.recordedAt ?? '',
  sealed: sealedFieldsOf(recorded).map(({ field }) => field),
});

/** An import may be older than the day on which it was recorded. */
const lifeBeganAt = ({ data, metadata }: RecordedEvent): Instant =>
  [data.acceptedAt, data.createdAt, metadata.recordedAt].find((at) => typeof at === 'string') ?? '';

/**
 * When the last day key of its sealed fields is destroyed. The days of the events count too, because a deleted invoice has no sealed field left
 * and the day of its deletion is not before any of its sealing days.
 */
const unreadableAt = (recorded: readonly RecordedEvent[]): Instant => {
  const days = recorded.flatMap((event) => [
    (event.metadata.recordedAt ?? '').slice(0, 10),
    ...generationsOf(event).flatMap((generation) => sealingDayOf(generation) ?? []),
  ]);
  return keyGoneAt(days.sort().at(-1) ?? '');
};
