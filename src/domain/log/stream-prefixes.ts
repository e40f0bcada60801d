import { anchorPrefix } from '../audit/events.js';
import {
  type CompanyId,
  companyPrefix,
  companyStream,
  dpsPrefix,
  invoicePrefix,
  type Mode,
  type StreamName,
} from '../common/ids.js';

/** Prefixes of all streams that this program writes (docs/architecture.md#streams-and-events). */
export const ALL_STREAMS = [
  'nfse',
  'dps',
  companyPrefix,
  'catalog-',
  'municipality-',
  'registry-',
  'system-',
  'audit-',
  anchorPrefix,
] as const;

/** Prefixes of one company's streams: the company, its invoices and its DPS numbers, of both modes. */
export const companyPrefixes = (companyId: CompanyId): readonly string[] => [
  `${invoicePrefix.live}${companyId}_`,
  `${invoicePrefix.test}${companyId}_`,
  `${dpsPrefix.live}${companyId}_`,
  `${dpsPrefix.test}${companyId}_`,
  companyStream(companyId),
];

/** Test streams are anchored apart, because test invoices are deleted after their retention; all other streams stay permanently. */
export const anchoredPart = (stream: StreamName): Mode => (/^(?:nfse|dps)Test-/.test(stream) ? 'test' : 'live');
