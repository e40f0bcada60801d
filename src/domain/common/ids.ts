import type { Branded } from './brand.js';

/** `live` is a fiscal document, `test` the restricted-production environment; the API key decides (SVC-6). */
export type Mode = (typeof modes)[number];

export const modes = ['live', 'test'] as const;

/** The 14-character CNPJ. Always text: an alphanumeric CNPJ has letters. */
export type CompanyId = Branded<string, 'company id'>;

/** A lower-case UUID, without the `nfse_` prefix that the API shows. */
export type InvoiceId = Branded<string, 'invoice id'>;

export type StreamName = Branded<string, 'stream name'>;

/** The name contains mode and tenant, so an id cannot lead to a stream of another company or mode (docs/architecture.md#streams-and-events). */
export const invoiceStream = (mode: Mode, companyId: CompanyId, invoiceId: InvoiceId): StreamName =>
  `${invoicePrefix[mode]}${companyId}_${invoiceId}`;

export const dpsStream = (mode: Mode, companyId: CompanyId, series: string): StreamName =>
  `${dpsPrefix[mode]}${companyId}_${series}`;

export const companyStream = (companyId: CompanyId): StreamName => `${companyPrefix}${companyId}`;

export const systemApiStream: StreamName = 'system-api';

export const invoicePrefix = { live: 'nfseLive-', test: 'nfseTest-' } as const satisfies Record<Mode, string>;

export const companyPrefix = 'company-';

export const dpsPrefix = { live: 'dpsLive-', test: 'dpsTest-' } as const satisfies Record<Mode, string>;

export type InvoiceAddress = { mode: Mode; companyId: CompanyId; invoiceId: InvoiceId };

/** The parts of an invoice stream's name; undefined for a stream of another kind. */
export const parseInvoiceStream = (stream: StreamName): InvoiceAddress | undefined => {
  const match = /^nfse(Live|Test)-([0-9A-Z]{14})_([0-9a-f-]{36})$/.exec(stream);
  if (match === null) return undefined;
  const [, mode, companyId, invoiceId] = match;
  if (companyId === undefined || invoiceId === undefined) return undefined;
  return { mode: mode === 'Live' ? 'live' : 'test', companyId, invoiceId };
};

/** The parts of the name of a series' stream; undefined for a stream of another kind. */
export const parseDpsStream = (
  stream: StreamName,
): { mode: Mode; companyId: CompanyId; series: string } | undefined => {
  const [, mode, companyId, series] = /^dps(Live|Test)-([0-9A-Z]{14})_(.+)$/.exec(stream) ?? [];
  if (companyId === undefined || series === undefined) return undefined;
  return { mode: mode === 'Live' ? 'live' : 'test', companyId, series };
};

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `nfse_<uuid>` or a plain UUID, in any case (ID-1); undefined means `invalid_id`. */
export const parseInvoiceId = (text: string): InvoiceId | undefined => {
  const bare = text.startsWith('nfse_') ? text.slice('nfse_'.length) : text;
  return UUID.test(bare) ? bare.toLowerCase() : undefined;
};

export const publicInvoiceId = (invoiceId: InvoiceId): string => `nfse_${invoiceId}`;
