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
    const invoice = await deps.byReference({ mode, companyId }, reference);
    const data = invoice === undefined ? [] : [invoiceBody(invoice, caller, deps)];
    return json(call, 200, { object: 'list', livemode: mode === 'live', has_more: false, data });
  };

/** Without `errors`, which only refusals of a body have (ERR-errors). */
export const badReference: Refusal = {
  code: 'invalid_request',
  message: `Informe o parâmetro reference na busca, com 1 a ${MAX_REFERENCE} caracteres.`,
  param: 'reference',
};
