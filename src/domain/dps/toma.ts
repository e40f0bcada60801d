import type { Customer } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { domesticEnd, foreignEnd } from './end.js';

/** Thrown for an identified customer without a name, which the layout demands: neither caller nor registry had one (reading 51). */
export class CustomerNameMissing extends Error {
  override readonly name = 'CustomerNameMissing';
}

/** True for a customer whom `toma` must identify and cannot name: known before a number is spent on the DPS. */
export const isCustomerNameMissing = (customer: Customer | undefined): boolean =>
  customer !== undefined &&
  customer.name === undefined &&
  (customer.type === 'foreign' || customer.document !== undefined);

/**
 * `toma`, the customer; nothing for none, and nothing for a name without a document (reading 32; domain.md 9.3). The
 * document is the authorizer's to check (E0188, E0190, E0206, E0207; reading 33), as is that nobody bills himself (E0202).
 * No `IM` (E0232).
 */
export const toma = (customer: Customer | undefined): Canonical | undefined => {
  if (customer === undefined) return undefined;
  if (customer.type === 'foreign') {
    return element('toma', foreignIdentity(customer), xNome(customer.name), foreignEnd(customer.address));
  }
  const { document, name, address } = customer;
  if (document === undefined) return undefined;
  const identity = field(document.length === 11 ? 'CPF' : 'CNPJ', document);
  return element('toma', identity, xNome(name), address === undefined ? undefined : domesticEnd(address));
};

/** Not restricted to Latin-1 by its type, so it goes as recorded. */
const xNome = (name: string | undefined): Canonical => {
  if (name === undefined) throw new CustomerNameMissing('the customer has a document but no name');
  return field('xNome', name);
};

/** An address abroad demands NIF or the reason for having none (E0223): 1 exempt, 2 not required by the country; 0 is refused (E0226). */
const foreignIdentity = (customer: Extract<Customer, { type: 'foreign' }>): Canonical =>
  customer.taxId !== undefined
    ? field('NIF', customer.taxId)
    : field('cNaoNIF', customer.taxIdAbsenceReason === 'exempt' ? '1' : '2');
