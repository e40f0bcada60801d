import type { Mode, StreamName } from '../shared/ids.js';

/** Everything that this program ever writes; see the stream table of the architecture. */
export const ALL_STREAMS = [
  'nfse',
  'dps',
  'company-',
  'catalog-',
  'municipality-',
  'registry-',
  'system-',
  'audit-',
  'anchor-',
] as const;

/** Prefixes of the streams of one company: its own, its invoices' and its DPS numbers', of both modes. */
export const companyPrefixes = (companyId: string): readonly string[] => [
  `nfseLive-${companyId}_`,
  `nfseTest-${companyId}_`,
  `dpsLive-${companyId}_`,
  `dpsTest-${companyId}_`,
  `company-${companyId}`,
];

/** Test streams are anchored apart, because test invoices vanish after their life; everything else stays for ever. */
export const anchoredPart = (stream: StreamName): Mode => (/^(?:nfse|dps)Test-/.test(stream) ? 'test' : 'live');
