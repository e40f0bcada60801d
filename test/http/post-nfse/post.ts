import { expect } from 'vitest';
import { createHarness } from '../../support/harness/http.js';
import { type ErrorBody, expectCauses, expectRefusal } from '../../support/harness/http-answers.js';

type Body = Record<string, unknown>;

/** Posts the exact text or bytes to a new service without invoices. */
export const postRaw = async (raw: string | Uint8Array): Promise<Response> =>
  await createHarness().call('/v1/nfse', { raw });

export const post = async (json: object): Promise<Response> => await postRaw(JSON.stringify(json));

/** The body of the 202. */
export const acceptedBody = async (response: Response): Promise<Body> => {
  const body = (await response.json()) as Body;
  expect(response.status, JSON.stringify(body)).toBe(202);
  return body;
};

/** Expects `invalid_request` with exactly these causes; `message` and `param` show the first one. */
export const expectInvalid = async (response: Response, fields: readonly string[]): Promise<ErrorBody> => {
  const error = await expectRefusal(response, 400, 'invalid_request');
  expectCauses(error, fields);
  expect(error).toMatchObject({ param: fields[0], message: error.errors?.[0]?.message });
  return error;
};
