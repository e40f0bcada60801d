/** `live` is a fiscal document, `test` the restricted-production environment; fixed by the API key (spec "What the service does" 6). */
export type Mode = 'live' | 'test';

/** The 14-character CNPJ. Text for ever: the alphanumeric CNPJ has letters. */
export type CompanyId = string;

/** A lower-case UUID, without the `nfse_` prefix that the API shows. */
export type InvoiceId = string;

export type StreamName = string;

/** Mode and tenant are part of the name, so a stream of another company or mode cannot be found by id (design section 4). */
export const invoiceStream = (mode: Mode, companyId: CompanyId, invoiceId: InvoiceId): StreamName =>
  `${invoicePrefix[mode]}${companyId}_${invoiceId}`;

export const dpsStream = (mode: Mode, companyId: CompanyId, series: string): StreamName =>
  `${dpsPrefix[mode]}${companyId}_${series}`;

export const companyStream = (companyId: CompanyId): StreamName => `company-${companyId}`;

export const systemApiStream: StreamName = 'system-api';

export const invoicePrefix = { live: 'nfseLive-', test: 'nfseTest-' } as const satisfies Record<Mode, string>;

const dpsPrefix = { live: 'dpsLive-', test: 'dpsTest-' } as const satisfies Record<Mode, string>;

export type InvoiceAddress = { mode: Mode; companyId: CompanyId; invoiceId: InvoiceId };

/** The parts of an invoice stream's name; undefined for a stream of another kind. */
export const parseInvoiceStream = (stream: StreamName): InvoiceAddress | undefined => {
  const match = /^nfse(Live|Test)-([0-9A-Z]{14})_([0-9a-f-]{36})$/.exec(stream);
  if (match === null) return undefined;
  const [, mode, companyId, invoiceId] = match;
  if (companyId === undefined || invoiceId === undefined) return undefined;
  return { mode: mode === 'Live' ? 'live' : 'test', companyId, invoiceId };
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `nfse_<uuid>` or a bare UUID, in any case, as the routes accept it (reading 26); undefined means `invalid_id`. */
export const parseInvoiceId = (text: string): InvoiceId | undefined => {
  const bare = text.startsWith('nfse_') ? text.slice('nfse_'.length) : text;
  return UUID.test(bare) ? bare.toLowerCase() : undefined;
};

export const publicInvoiceId = (invoiceId: InvoiceId): string => `nfse_${invoiceId}`;
