import { areaReasons } from '../../domain/invoice/messages/areas.js';

/**
 * Of look-ups and of faults of the service: in the answer to a send they say nothing final, so they count there as if nobody
 * had catalogued them.
 */
const NEVER_OF_A_SEND = new Set(['E1217', 'E2220', 'E2243', 'E2401', 'E2404', 'E2406', 'E999', 'RNG9999']);

/**
 * Every code that a send can be answered with for good: the rules of Anexo I v1.01-20260209 and Anexo II v1.01-20260122 and
 * the observed `E6154`, `E6155` and `RNG6110`.
 */
export const cataloguedCodes: ReadonlySet<string> = new Set(
  [...areaReasons.keys()].filter((code) => !NEVER_OF_A_SEND.has(code)),
);
