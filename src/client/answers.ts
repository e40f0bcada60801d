import type * as v from 'valibot';
import type { errorResponse, InvoiceBody } from '../http/openapi/schemas.js';

/** The known values, which an editor completes, and any other, because values may be added (VER-2, VER-4). */
type Open<T> = T | (string & {});

type WithOpen<T, K extends keyof T> = Omit<T, K> & { [Field in K]: Open<T[Field]> };

type InvoiceError = WithOpen<NonNullable<InvoiceBody['error']>, 'code'>;

/** `status` and `error.code` are open sets: treat an unknown status as `indeterminate`. */
export type Invoice = WithOpen<Omit<InvoiceBody, 'error'>, 'status'> & { error?: InvoiceError | undefined };

/** The object `error` of a refusal (docs/contract.md, "Errors"). `code` is an open set: decide by it, and expect new ones. */
export type ErrorDetails = WithOpen<v.InferOutput<typeof errorResponse>['error'], 'code'>;
