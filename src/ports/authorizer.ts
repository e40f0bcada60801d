import type { AccessKey, CancelingEvent, DpsId } from '../domain/common/access-key.js';
import type { CompanyId, Mode } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';
import type { AuthorizerAnswer } from '../domain/invoice/events.js';

/** The calling company: the mode selects the environment, the company its certificate. */
export type Caller = { mode: Mode; companyId: CompanyId };

type Contradiction = { claimed: string; computed: string };

/** An NFS-e as received: the exact bytes, and what the send protocol needs from them. */
export type AuthorizedNote = {
  accessKey: AccessKey;
  nfseNumber: string;
  /** `dhProc`, in UTC. */
  authorizedAt: Instant;
  xml: Buffer;
  /** Id of the embedded DPS. */
  dpsId: DpsId;
  /** Digest of the embedded DPS, computed by us with our signer's algorithm; empty when the DPS signature names another algorithm. */
  digest: string;
  /** Mark of the embedded DPS' signature; absent without a signature or when the content does not fit it. */
  signatureMark?: string;
  /** Present when the DPS' signature names another digest than we compute: another algorithm, no signature, or altered content. */
  contradiction?: Contradiction;
  /** Present when Sefin cannot have made the note of the DPS that was asked for, because its key or its time does not fit that DPS. */
  misfit?: true;
  /** Why the authorizer's signature does not hold; absent when it holds. */
  signatureFault?: string;
  /** The environment that the embedded DPS names (`tpAmb`); absent without a known one. */
  mode?: Mode;
  /** `dhEmi` of the embedded DPS, in UTC; absent without one. */
  emittedAt?: Instant;
  /** CNPJ of the provider that the embedded DPS names; absent without one. */
  provider?: string;
  /** Tells a foreign note under our DPS id from our own note of before a restore. */
  content: { amount: string; description: string; customerDocument: string };
};

/** Causes of an answer that are never recorded. */
type PassingCause = {
  /** The cause is the environment, not this document or company. It only pauses sends. */
  outage?: true;
  /** The answer refuses the certificate of the connection. It holds back the company's sends (ADR 47). */
  certificateRefused?: true;
};

/** No byte was handed to a connected socket, or a JSON body refused the channel's certificate. */
type NotSent = { kind: 'not_sent'; reason: string; codes: readonly string[] } & PassingCause;

/** What is neither done nor certainly without effect. */
type UnknownSend = {
  kind: 'unknown';
  reason: string;
  /** The answer refuses the document by a code that is in no catalogue, so only look-ups make the refusal final. */
  refused?: true;
  /** The answer refuses a cancellation because this event, which cancels the note, is there already. */
  namedEvent?: CancelingEvent;
  /** Our document came back in a note whose signature cannot be relied on. This causes a notice and is recorded as the reason only. */
  signatureFault?: string;
} & PassingCause &
  AuthorizerAnswer;

/** Result of a send (docs/architecture.md#never-twice). `rejected`: a JSON body whose codes are all final. */
export type SendResult<Success> =
  | NotSent
  | ({ kind: 'rejected' } & AuthorizerAnswer)
  | UnknownSend
  | { kind: 'done'; result: Success };

/**
 * Result of a look-up. Only `absent` counts towards a proven absence: a JSON 404, for a DPS with the catalogued code and for an event with an error
 * of the authorizer, or a list of events without one that cancels.
 */
export type LookupResult<Found> = { kind: 'found'; found: Found } | { kind: 'absent' } | InconclusiveLookup;

type InconclusiveLookup = {
  kind: 'inconclusive';
  reason: string;
  /** The authorizer named the document by its key, but the document could not be had. */
  exists?: true;
  /** A 401 or 403 without codes. The authorizer also gives that to a good certificate whose company is no actor of the document. */
  mayBeNoActor?: true;
} & PassingCause;

/** Whether the reason of an answer lies with the company's certificate, which is missing, unusable or refused. */
export const isCertificateReason = (reason: string): boolean => reason.startsWith('certificate_');

/** The event registered at the authorizer that cancels or replaces a note, ours or another party's: its exact bytes. */
export type RegisteredEvent = {
  xml: Buffer;
  eventType: CancelingEvent;
  /** The note that replaces this one, where the event of a substitution names it. */
  replacedBy?: AccessKey;
  /** `dhProc`, in UTC. */
  registeredAt: Instant;
  /** Id of the embedded request. */
  requestId: string;
  /** This field and the next three have the meaning of their counterparts in `AuthorizedNote`. */
  digest: string;
  signatureMark?: string;
  contradiction?: Contradiction;
  signatureFault?: string;
};

/**
 * Sefin Nacional or its simulator. No method retries. Each method ends by its deadline and never rejects: what cannot be read is
 * `unknown` or `inconclusive`. A look-up ends by `until`; without `until` the client's time limit ends each call.
 */
export type Authorizer = {
  /** `POST /nfse` with these signed bytes, once. Ends at `deadlineAt`; when that has passed, nothing is sent. */
  sendDps(caller: Caller, signedDps: Buffer, deadlineAt: Instant): Promise<SendResult<AuthorizedNote>>;
  /** `GET /dps/{id}`, then `GET /nfse/{key}`. */
  findByDps(caller: Caller, dpsId: DpsId, until?: Instant): Promise<LookupResult<AuthorizedNote>>;
  /** `GET /nfse/{key}`. */
  findByAccessKey(caller: Caller, accessKey: AccessKey): Promise<LookupResult<AuthorizedNote>>;
  /** `POST /nfse/{key}/eventos`, once. Ends at `deadlineAt`; when that has passed, nothing is sent. */
  sendCancellation(
    caller: Caller,
    accessKey: AccessKey,
    signedRequest: Buffer,
    deadlineAt: Instant,
  ): Promise<SendResult<RegisteredEvent>>;
  /**
   * The event that cancels or replaces the note, of whatever author; `absent` when none of its events does. Asks for our own event first
   * (`GET /nfse/{key}/eventos/101101/1`), then for all events of the note, by their list or one type after another. Of a note that a municipality's
   * own system made only the ADN has the events (`GET /NFSe/{key}/Eventos`); the reason of an inconclusive answer then begins with `adn_`.
   */
  findCancellation(caller: Caller, accessKey: AccessKey, until?: Instant): Promise<LookupResult<RegisteredEvent>>;
};
