import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../domain/common/error-catalogue.js';
import type { InvoiceId, Mode } from '../domain/common/ids.js';

/** Values of the rate headers (HDR-RateLimit-Limit, HDR-RateLimit-Remaining, HDR-RateLimit-Reset). */
export type RateState = { limit: number; remaining: number; resetSeconds: number };

/** One request. Its fields appear as they become known, and every answer uses the fields known by then. */
export type Call = {
  readonly requestId: string;
  /** True where the pages of the codes are served, so that a refusal names the page of its code. */
  readonly hasPages: boolean;
  /** Known from the key, or from the token of a download. */
  mode?: Mode;
  rate?: RateState;
  /** Gives the slot of this request back to the limit that it was taken from. */
  giveBack?: () => void;
  /** True once the slot was given back. */
  isUncounted?: boolean;
  invoiceId?: InvoiceId;
  code?: ErrorCode;
  /** Id of a recorded key, also when the key is refused. */
  keyId?: string;
};

/** For a request that is refused late as if the switch, the key or the company had refused it at once: without mode (ERR-livemode) and quota. */
export const takeBack = (call: Call): void => {
  call.giveBack?.();
  call.isUncounted = true;
  delete call.mode;
};

/** For servers that have no id generator. */
export const randomRequestId = (): string => `req_${randomUUID()}`;
