import { parseInvoiceId } from '../../domain/common/ids.js';
import { present } from '../../domain/common/present.js';
import type { BodyHandler } from '../access/authentication.js';
import { refuse } from '../answer.js';
import { cancelBody } from '../body/cancel-schema.js';
import { bodyRefusal, checkBody } from '../body/check.js';
import type { HttpDeps } from '../deps.js';
import { accepted } from '../invoice-body.js';

/** POST /v1/nfse/{id}/cancel (CANCEL-responses): 202, or 400, 404, 409, 413, 415, 422. */
export const cancelRoute =
  (deps: HttpDeps): BodyHandler =>
  async (c, call, caller, readBody) => {
    const invoiceId = parseInvoiceId(c.req.param('id') ?? '');
    if (invoiceId === undefined) return refuse(call, { code: 'invalid_id' });
    call.invoiceId = invoiceId;
    const read = await readBody();
    if ('refused' in read) return refuse(call, read.refused);
    const checked = checkBody(cancelBody, read.body);
    if ('causes' in checked) return refuse(call, bodyRefusal('invalid_request', checked.causes));
    const { reason, description } = checked.value;
    const command = { invoiceId, ...present({ reason, description }) };
    const { keyId, companyId, mode } = caller;
    const result = await deps.cancel(command, { mode, companyId, keyId, requestId: call.requestId });
    return 'refused' in result ? refuse(call, result.refused) : accepted(call, result.accepted, caller, deps);
  };
