import type { AuthorizerAnswer } from '../domain/invoice/events.js';
import type { CompanyId, Mode } from '../domain/shared/ids.js';
import type { Instant } from '../domain/shared/time.js';

/** Who is calling: the mode picks the environment, the company its certificate. */
export type Caller = { mode: Mode; companyId: CompanyId };

export type Contradiction = { claimed: string; computed: string };

/** An NFS-e as received: the exact bytes, and what the protocol needs from them. */
export type AuthorizedNote = {
  accessKey: string;
  nfseNumber: string;
  /** `dhProc`, in UTC. */
  authorizedAt: Instant;
  xml: Buffer;
  /** Of the embedded DPS. */
  dpsId: string;
  /** Of the embedded DPS' content, computed by us with our signer's algorithm; empty when its own signature names another one. */
  dpsDigest: string;
  /** Of the embedded DPS' signature, where it has one and its content fits. */
  signatureMark?: string;
  /** Of a DPS whose signature names another digest than its content has for us: of another algorithm, unsigned, or altered. */
  contradiction?: Contradiction;
  /** Why the authorizer's own signature does not hold; left out when it does. */
  signatureFault?: string;
  /** What tells a foreign note under our DPS id from our own one of before a restore. */
  content: { amount: string; description: string; customerDocument: string };
};

/**
 * What a send saw (design section 6, 4). `not_sent`: no byte of the request was handed to the socket, or the JSON body
 * refused the channel's certificate. `rejected`: a JSON body with final codes. Everything else is `unknown`. `outage`: the
 * environment as a whole stood in the way, not this document nor this company; never recorded, it only pauses sends.
 * `signatureFault`: our document came back in one whose own signature cannot be relied on; an alarm, recorded as the reason only.
 */
export type SendResult<Success> =
  | { kind: 'not_sent'; reason: string; codes: readonly string[]; certificateRefused: boolean; outage?: true }
  | ({ kind: 'rejected' } & AuthorizerAnswer)
  | ({ kind: 'unknown'; reason: string; outage?: true; signatureFault?: string } & AuthorizerAnswer)
  | { kind: 'done'; result: Success };

/** What a look-up saw. Only `absent` (JSON 404 with the catalogued code) proves anything but presence. */
export type LookupResult<Found> =
  | { kind: 'found'; found: Found }
  | { kind: 'absent' }
  | { kind: 'inconclusive'; reason: string; outage?: true };

/** The cancellation event registered at the authorizer: its exact bytes. */
export type RegisteredEvent = {
  xml: Buffer;
  /** `dhProc`, in UTC. */
  registeredAt: Instant;
  /** Of the embedded request. */
  requestId: string;
  /** The next three as in a note. */
  requestDigest: string;
  signatureMark?: string;
  contradiction?: Contradiction;
  signatureFault?: string;
};

/**
 * Sefin Nacional or its simulator. No method retries; each ends by its own deadline and never rejects: what cannot be read is
 * `unknown` or `inconclusive`. A look-up with `until` is over then at the latest; without `until` the client's time limit ends each call.
 */
export type Authorizer = {
  /** `POST /nfse` with these signed bytes, once; over at `deadlineAt`, and not begun when that has passed. */
  sendDps(caller: Caller, signedDps: Buffer, deadlineAt: Instant): Promise<SendResult<AuthorizedNote>>;
  /** `GET /dps/{id}`, then `GET /nfse/{key}`. */
  findByDps(caller: Caller, dpsId: string, until?: Instant): Promise<LookupResult<AuthorizedNote>>;
  /** `GET /nfse/{key}`. */
  findByAccessKey(caller: Caller, accessKey: string): Promise<LookupResult<AuthorizedNote>>;
  /** `POST /nfse/{key}/eventos`, once; over at `deadlineAt`, and not begun when that has passed. */
  sendCancellation(
    caller: Caller,
    accessKey: string,
    signedRequest: Buffer,
    deadlineAt: Instant,
  ): Promise<SendResult<RegisteredEvent>>;
  /** `GET /nfse/{key}/eventos/101101/1`. */
  findCancellation(caller: Caller, accessKey: string, until?: Instant): Promise<LookupResult<RegisteredEvent>>;
};
