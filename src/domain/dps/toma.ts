import type { Customer, ForeignAddress } from '../invoice/events.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { latinField } from './latin-field.js';

/** Thrown for an identified customer without a name, which the layout demands: neither caller nor registry had one (reading 51). */
export class CustomerNameMissing extends Error {
  override readonly name = 'CustomerNameMissing';
}

/** True for a customer whom `toma` must identify and cannot name: known before a number is spent on the DPS. */
export const isCustomerNameMissing = (customer: Customer | undefined): boolean =>
  customer !== undefined &&
  customer.name === undefined &&
  (customer.type === 'foreign' || customer.document !== undefined);

/** `toma`, the customer; nothing for none, and nothing for a name without a document (reading 32; domain.md 9.3). */
export const toma = (customer: Customer | undefined): Canonical | undefined => {
  if (customer === undefined) return undefined;
  if (customer.type === 'foreign') {
    return element('toma', foreignIdentity(customer), xNome(customer.name), foreignEnd(customer.address));
  }
  if (customer.document === undefined) return undefined;
  const identity = field(customer.document.length === 11 ? 'CPF' : 'CNPJ', customer.document);
  return element('toma', identity, xNome(customer.name));
};

/** Not restricted to Latin-1 by its type, so it goes as recorded. */
const xNome = (name: string | undefined): Canonical => {
  if (name === undefined) throw new CustomerNameMissing('the customer has a document but no name');
  return field('xNome', name);
};

/** An address abroad demands NIF or the reason for having none (E0223): 1 exempt, 2 not required by the country. */
const foreignIdentity = (customer: Extract<Customer, { type: 'foreign' }>): Canonical =>
  customer.taxId !== undefined
    ? field('NIF', customer.taxId)
    : field('cNaoNIF', customer.taxIdAbsenceReason === 'exempt' ? '1' : '2');

const foreignEnd = (address: ForeignAddress): Canonical =>
  element(
    'end',
    element(
      'endExt',
      field('cPais', address.country),
      field('cEndPost', address.postalCode),
      field('xCidade', address.city),
      field('xEstProvReg', address.state),
    ),
    latinField('xLgr', address.street),
    latinField('nro', address.number),
    latinField('xBairro', address.district),
  );
