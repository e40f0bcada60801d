import { IBSCBS_MESSAGES } from './messages/ibscbs.js';
import { OFFICIAL } from './messages/official.js';
import { PARTY_MESSAGES } from './messages/parties.js';
import { SERVICE_MESSAGES } from './messages/service.js';
import { TAX_MESSAGES } from './messages/taxes.js';
import { VALUE_MESSAGES } from './messages/values.js';

/** Message of every code that the simulator can answer. Clients must go by the code: texts change with the versions. */
export const MESSAGES = {
  ...OFFICIAL,
  ...PARTY_MESSAGES,
  ...SERVICE_MESSAGES,
  ...VALUE_MESSAGES,
  ...TAX_MESSAGES,
  ...IBSCBS_MESSAGES,
} as const;

export type Code = keyof typeof MESSAGES;
