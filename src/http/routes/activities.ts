import type { KeyedHandler } from '../access/authentication.js';
import { json } from '../answer.js';
import type { HttpDeps } from '../deps.js';

/** GET /v1/activities (LISTACT-1 to LISTACT-4): 200, with an empty list when no activity line is issuable. */
export const activitiesRoute =
  (deps: HttpDeps): KeyedHandler =>
  async (_c, call, { companyId, mode }) =>
    json(call, 200, { object: 'list', has_more: false, data: await deps.activities({ mode, companyId }) });
