import type { Company } from '../../domain/company/company.js';
import type { Limits } from '../../domain/invoice/limits.js';
import { type FoundDocument, isContradictory, type Owner } from '../../domain/invoice/sent-document.js';
import type { CompanyId, StreamName } from '../../domain/shared/ids.js';
import type { Instant } from '../../domain/shared/time.js';
import type { Authorizer, Caller } from '../../ports/authorizer.js';
import type { Clock } from '../../ports/clock.js';
import type { DocumentSigner, SigningIdentity } from '../../ports/documents.js';
import type { LookupMemos } from '../../ports/guards.js';
import type { EventStore } from '../event-store/event-store.js';
import type { LookUpPlaces } from './look-up-places.js';
import type { SendGate } from './send-gate.js';

/** What the protocol tells operators; never a document, a name or a raw answer. */
export type IssuerNotice = {
  notice:
    | 'certificate_missing'
    | 'certificate_refused'
    | 'series_blocked'
    | 'number_conflict'
    | 'document_invalid'
    /** What was accepted cannot be read any more: its test day's key was lost with the database, or its master key was given up. */
    | 'content_lost'
    | 'lookup_inconclusive'
    /** The look-up before a verdict by time threw, or what it found could not be recorded; the verdict is given all the same. */
    | 'last_look_up_failed'
    /** A note or event under our Id whose content is not what its own signature says, or which nobody has signed. */
    | 'document_altered'
    /** A document under our Id whose outer signature is of an unknown algorithm, of no certificate that can be read, wrong or missing. */
    | 'signature_unverified'
    | 'outcome_not_recorded';
  stream: StreamName;
  detail?: string;
};

export type IssuerDeps = {
  store: EventStore;
  authorizer: Authorizer;
  /** Pauses sends while an environment is out; look-ups go on. */
  gate: SendGate;
  signer: DocumentSigner;
  /** Bounds the look-ups of a worker, so that sends find a place beside them; left out, nothing bounds them. */
  lookUpPlaces?: LookUpPlaces;
  lookups: LookupMemos;
  clock: Clock;
  limits: Limits;
  company(companyId: CompanyId): Promise<Company | undefined>;
  /** The company's current certificate, opened; undefined when there is none. */
  identityOf(caller: Caller): Promise<SigningIdentity | undefined>;
  /** Central-bank number of an ISO currency, for exports. */
  currencyCode(iso: string): string | undefined;
  actor: `worker:${string}` | `timer:${string}`;
  notify(notice: IssuerNotice): void;
  /** Once it aborts no attempt is begun; those under way are ended and recorded. */
  stopping?: AbortSignal;
};

/** Tells operators; what the telling itself throws must not decide about an invoice. */
export const tell = ({ notify }: Pick<IssuerDeps, 'notify'>, notice: IssuerNotice): void => {
  try {
    notify(notice);
  } catch {
    // The log line is lost; there is nobody left to tell.
  }
};

/** The alarms for a document under one of our ids; none for a document that can be relied on. */
export const doubtsOf = (stream: StreamName, found: FoundDocument, owner: Owner): readonly IssuerNotice[] => [
  ...(found.signatureFault === undefined
    ? []
    : [{ notice: 'signature_unverified' as const, stream, detail: found.signatureFault }]),
  ...(owner === 'unknown' && isContradictory(found) ? [{ notice: 'document_altered' as const, stream }] : []),
];

/** When a worker should look at the stream again; `done` until something new happens. */
export type Next = { kind: 'done' } | { kind: 'later'; at: Instant } | { kind: 'park'; reason: string };

export const done: Next = { kind: 'done' };
