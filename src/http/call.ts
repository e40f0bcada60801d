import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../domain/shared/error-catalogue.js';
import type { InvoiceId, Mode } from '../domain/shared/ids.js';

/** What the rate headers say (spec "Common response headers"). */
export type RateState = { limit: number; remaining: number; resetSeconds: number };

/** One request on its way. Fields appear as they become known, and every answer is built from what is known by then. */
export type Call = {
  readonly requestId: string;
  /** Known with the key, or with the token of a download. */
  mode?: Mode;
  rate?: RateState;
  invoiceId?: InvoiceId;
  code?: ErrorCode;
  /** Of a key on record, also when it is refused. */
  keyId?: string;
};

/** For servers without a generator of their own. */
export const randomRequestId = (): string => `req_${randomUUID()}`;
