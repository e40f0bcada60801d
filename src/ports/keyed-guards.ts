import type { InvoiceId } from '../domain/common/ids.js';
import type { Fingerprints } from './duplicate-window.js';
import type { Claim, KeyOwner } from './idempotency-keys.js';

/** The guards of a request with an Idempotency-Key: its key, which has the invoice at once, and its mark in the duplicate window. */
export type KeyedGuards = {
  owner: KeyOwner;
  bodyHash: string;
  claim: Claim;
  invoiceId: InvoiceId;
  fingerprints: Fingerprints;
};
