import type { AccessKey } from '../../domain/common/access-key.js';
import type { CompanyId, InvoiceId, Mode } from '../../domain/common/ids.js';
import { sha256 } from '../../lib/sha256.js';

export const sha256Hex = (data: string | Uint8Array): string => sha256(data, 'hex');

/**
 * Always the same invoice id for a reference of one company and mode. The append that expects no stream is the acceptance
 * (docs/architecture.md#uniqueness).
 */
export const invoiceIdOfReference = (mode: Mode, companyId: CompanyId, reference: string): InvoiceId =>
  uuidV8([mode, companyId, reference]);

/** The id of a keyed request without a reference. `use` counts from 0 and rises when the key is used again after its 24 hours. */
export const invoiceIdOfKey = (mode: Mode, companyId: CompanyId, keyHash: string, use: number): InvoiceId =>
  uuidV8([mode, companyId, 'key', keyHash, use]);

/**
 * The id whose stream an import of a live note takes first, so that one note is imported once. `use` rises when the invoice that took the id before has
 * ended without that note.
 */
export const invoiceIdOfAccessKey = (mode: Mode, companyId: CompanyId, accessKey: AccessKey, use = 0): InvoiceId =>
  uuidV8([mode, companyId, 'access key', accessKey, ...(use === 0 ? [] : [use])]);

/**
 * What the duplicate window compares: the description as sent, before markers are expanded (docs/contract.md IDEM-5). The hash can be guessed
 * back, so it is stored only under a key (ADR 32).
 */
export const fingerprintOf = (mode: Mode, companyId: CompanyId, amountInCents: number, description: string): string =>
  sha256Hex(JSON.stringify([mode, companyId, amountInCents, description]));

/**
 * Equal for bodies that are equal after parsing: white space and the order of keys do not count (docs/contract.md IDEM-1). Stored only under a
 * key (ADR 32).
 */
export const bodyHashOf = (body: unknown): string => sha256Hex(JSON.stringify(sorted(body)));

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return { array: value.map(sorted) };
  if (typeof value !== 'object' || value === null) return value;
  return {
    object: Object.entries(value)
      .map(([key, item]) => [key, sorted(item)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  };
};

const uuidV8 = (parts: readonly (string | number)[]): string => uuidV8OfHash(sha256Hex(JSON.stringify(parts)));

/** A UUID version 8 out of the first 122 free bits of a SHA-256 in hex. */
export const uuidV8OfHash = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;

/** False for a random UUID, which is of version 4. */
export const isDerivedId = (invoiceId: InvoiceId): boolean => invoiceId[14] === '8';
