import type { CompanyId, InvoiceId, Mode } from '../domain/common/ids.js';
import type { Instant } from '../domain/common/time.js';

/** The owner of a key: keys are scoped per company and mode (POST-Idempotency-Key). */
export type KeyOwner = { mode: Mode; companyId: CompanyId; keyHash: string };

/** `commandId` and `acceptedAt` are those of the try that may have appended last. A retry that takes the lease over gets them from `claim`. */
export type Claim = { leaseToken: string; commandId: string; acceptedAt: Instant };

export type KeyState =
  | { kind: 'free' }
  | { kind: 'in_use' }
  /** `bodyHash`: of the request that holds the key. `invoiceId`: of its invoice, when known. */
  | { kind: 'reuse'; bodyHash: string; invoiceId?: InvoiceId }
  | { kind: 'done'; invoiceId: InvoiceId };

export type ClaimResult = { kind: 'claimed'; claim: Claim } | Exclude<KeyState, { kind: 'free' }>;

/** Time-boxed promises. Losing them can refuse or delay a request, never allow a second note (docs/architecture.md#uniqueness). */
export type IdempotencyKeys = {
  /**
   * Claims the key with `fresh`, unless an expired lease of the same body is taken over. `sameBody` is another stored hash known to be of
   * this body; a new row always stores `bodyHash`.
   */
  claim(owner: KeyOwner, bodyHash: string, fresh: Claim, now: Instant, sameBody?: string): Promise<ClaimResult>;
  /** Puts the command id and the instant of `fresh`, whose lease token holds the key, into the row; false when the lease was lost. */
  renew(owner: KeyOwner, fresh: Claim): Promise<boolean>;
  /** Succeeds only under the lease token that the process holds; false when the lease was lost. */
  markDone(owner: KeyOwner, leaseToken: string, invoiceId: InvoiceId): Promise<boolean>;
  /**
   * Frees the key for any body. Its row stays for a minute, so that an append with guards (ADR 42) that was decided before does not take the key
   * after its request was refused.
   */
  release(owner: KeyOwner, leaseToken: string, now: Instant): Promise<void>;
  /** Whether the key has an invoice, within its 24 hours. Claims nothing. */
  isFinished(owner: KeyOwner, now: Instant): Promise<boolean>;
};

/**
 * Stored for a body that is not known, in the form of a keyed hash whose key is gone: no body is taken for the same, and the refusal names the invoice.
 */
export const UNKNOWN_BODY = 'hmac:1:imported:';

/** The key of a request whose note is taken over. `acceptedAt`: when the key's 24 hours began. */
export type ImportedKey = KeyOwner & { invoiceId: InvoiceId; acceptedAt: Instant };

/** What the import of notes asks and says of the keys of requests. */
export type ImportedKeys = {
  /** The invoice that holds the key now; `in_use` while a request works on the key. Undefined for a free key. */
  holderOf(owner: KeyOwner, now: Instant): Promise<InvoiceId | 'in_use' | undefined>;
  /**
   * Gives a free key to the invoice until the key's 24 hours end, which must not be over. Returns the holder, and a token when this call gave the key.
   * `in_use` also for a key that could be neither given nor read: the caller must not go on without the key.
   */
  take(key: ImportedKey, now: Instant): Promise<{ holder: InvoiceId | 'in_use'; token?: string }>;
  /** Frees the key that a `take` with this token gave, unless another `take` of the same invoice, or a request, came since. */
  free(key: KeyOwner, token: string): Promise<void>;
};
