import { OFFICIAL } from './messages/official.js';
import { PARTY_MESSAGES } from './messages/parties.js';
import { IBSCBS_MESSAGES, SERVICE_MESSAGES, TAX_MESSAGES, VALUE_MESSAGES } from './messages/taxes.js';

/** The message of every code that the simulator can answer. Clients must react to the code: texts change between versions. */
export const MESSAGES = {
  ...OFFICIAL,
  ...PARTY_MESSAGES,
  ...SERVICE_MESSAGES,
  ...VALUE_MESSAGES,
  ...TAX_MESSAGES,
  ...IBSCBS_MESSAGES,
  E1861: 'O evento de cancelamento por substituição é registrado pelo próprio sistema, na emissão da NFS-e substituta.',
} as const;

export type Code = keyof typeof MESSAGES;
