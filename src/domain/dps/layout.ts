import type { Mode } from '../common/ids.js';

/** Default namespace of every national document; prefixes are forbidden (E1228). */
export const NFSE_NAMESPACE = 'http://www.sped.fazenda.gov.br/nfse';

export const LAYOUT_VERSION = '1.01';

/** Part of every document's digest: were it to follow the product's version, a rebuilt DPS would get another digest. */
export const VER_APLIC = 'nfse-issuance_1';

/** `tpAmb`: 1 production, 2 restricted production; it must match the host (E0006, E1845). */
export const tpAmb = { live: '1', test: '2' } as const satisfies Record<Mode, string>;

/** Slack for clocks that differ: the authorizer refuses stamps later than its own (E0008, E1843). */
export const CLOCK_SLACK_SECONDS = 60;
