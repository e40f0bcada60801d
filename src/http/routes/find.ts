import type { Refusal } from '../../domain/common/error-catalogue.js';
import type { KeyedHandler } from '../access/authentication.js';
import { json, refuse } from '../answer.js';
import { isLongerThan, MAX_REFERENCE } from '../body/text.js';
import type { HttpDeps } from '../deps.js';
import { invoiceBody } from '../invoice-body.js';

/** GET /v1/nfse?reference= (FIND-1 to FIND-4): 200 with at most one invoice, or 400. */
export const findRoute =
  (deps: HttpDeps): KeyedHandler =>
  async (c, call, caller) => {
    const { companyId, mode } = caller;
    const reference = c.req.query('reference');
    if (reference === undefined || reference === '' || isLongerThan(MAX_REFERENCE, reference))
      return refuse(call, badReference);
    if (reference.includes('%') && isBadlyEncoded(c.req.url)) return refuse(call, badEncoding);
    const invoice = await deps.byReference({ mode, companyId }, reference);
    const data = invoice === undefined ? [] : [invoiceBody(invoice, caller, deps)];
    return json(call, 200, { object: 'list', livemode: mode === 'live', has_more: false, data });
  };

/**
 * Whether the first value of `reference` is no percent-encoded UTF-8. Hono keeps such escapes as text, and the empty list for that text would deny
 * an invoice that exists (FIND-1).
 */
const isBadlyEncoded = (url: string): boolean => {
  const pairs = url.slice(url.indexOf('?') + 1).split('&');
  const [, ...value] = pairs.map((pair) => pair.split('=')).find(([name = '']) => decoded(name) === 'reference') ?? [];
  return decoded(value.join('=')) === undefined;
};

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const badEncoding: Refusal = {
  code: 'invalid_request',
  message: 'O parâmetro reference não está em UTF-8 codificado para a URL: use encodeURIComponent, ou o equivalente.',
  param: 'reference',
};

/** Without `errors`, which only refusals of a body have (ERR-errors). */
export const badReference: Refusal = {
  code: 'invalid_request',
  message: `Informe o parâmetro reference na busca, com 1 a ${MAX_REFERENCE} caracteres.`,
  param: 'reference',
};
