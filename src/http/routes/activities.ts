import type { KeyedHandler } from '../access/gate.js';
import { json } from '../answer.js';
import type { HttpDeps } from '../deps.js';

/** GET /v1/activities (spec "list issuable activities"): 200, with an empty list when nothing is released. */
export const activitiesRoute =
  (deps: HttpDeps): KeyedHandler =>
  async (_c, call, { companyId, mode }) =>
    json(call, 200, { object: 'list', has_more: false, data: await deps.activities({ mode, companyId }) });
