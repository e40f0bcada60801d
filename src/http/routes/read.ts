import { parseInvoiceId } from '../../domain/common/ids.js';
import type { KeyedHandler } from '../access/authentication.js';
import { json, refuse } from '../answer.js';
import type { HttpDeps } from '../deps.js';
import { invoiceBody } from '../invoice-body.js';

/** GET /v1/nfse/{id} (GET-1 to GET-4): 200, 400 `invalid_id`, or the same 404 for any invoice that this caller may not see. */
export const readRoute =
  (deps: HttpDeps): KeyedHandler =>
  async (c, call, caller) => {
    const invoiceId = parseInvoiceId(c.req.param('id') ?? '');
    if (invoiceId === undefined) return refuse(call, { code: 'invalid_id' });
    call.invoiceId = invoiceId;
    const { companyId, mode } = caller;
    const invoice = await deps.find({ mode, companyId, invoiceId });
    return invoice === undefined
      ? refuse(call, { code: 'not_found' })
      : json(call, 200, invoiceBody(invoice, caller, deps));
  };
