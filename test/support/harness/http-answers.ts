import { expect } from 'vitest';

export type ErrorBody = {
  type: string;
  code: string;
  message: string;
  param?: string;
  retryable: boolean;
  livemode?: boolean;
  provider_code?: string;
  request_id: string;
  errors?: { code: string; message: string }[];
};

export const errorOf = async (response: Response): Promise<ErrorBody> => {
  expect(response.headers.get('content-type')).toBe('application/json');
  const { error } = (await response.json()) as { error: ErrorBody };
  expect(error.request_id).toBe(response.headers.get('request-id'));
  expect(error.message).toMatch(/\S/);
  return error;
};

/** Checks status and code, and the members of every error envelope. */
export const expectRefusal = async (response: Response, status: number, code: string): Promise<ErrorBody> => {
  const error = await errorOf(response);
  expect({ status: response.status, code: error.code }).toEqual({ status, code });
  return error;
};

/** One item per field in this order, each of code and message only; the message names the field. */
export const expectCauses = ({ errors }: ErrorBody, fields: readonly string[]): void => {
  expect(errors).toStrictEqual(
    fields.map((field) => ({ code: 'invalid_request', message: expect.stringMatching(naming(field)) })),
  );
};

/** The whole path: `amount` is not named by `amount_in_cents`, nor `name` by `customer.name`. */
const naming = (field: string): RegExp => new RegExp(`(?<![\\w.])${field.replaceAll('.', '\\.')}(?!\\w)`);

/** The common headers, by name; those that are absent are left out. */
export const commonHeadersOf = (response: Response): Record<string, string> =>
  Object.fromEntries(
    ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after', 'location'].flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value]];
    }),
  );
