import { type Canonical, element, field } from '../common/canonical-xml.js';
import type { Customer, DomesticAddress, ForeignAddress } from '../invoice/events.js';
import { latinField } from './transliterate.js';

/** Thrown for an identified customer without a name: the layout demands a name, and neither caller nor registry had one (ADR 10). */
export class CustomerNameMissing extends Error {
  override readonly name = 'CustomerNameMissing';
}

/** True for a customer whom `toma` must identify and cannot name. Known before a DPS number is spent. */
export const isCustomerNameMissing = (customer: Customer | undefined): boolean =>
  customer !== undefined &&
  customer.name === undefined &&
  (customer.type === 'foreign' || customer.document !== undefined);

/**
 * `toma`, the customer (docs/national-system.md#customer); undefined without a customer, and for a name without a document (POST-customer).
 * The authorizer checks the document (E0188, E0190, E0206, E0207) and that the provider is not its own customer (E0202). No `IM` (E0232).
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

/** The type is not restricted to Latin-1, so the name goes as recorded. */
const xNome = (name: string | undefined): Canonical => {
  if (name === undefined) throw new CustomerNameMissing('the customer has a document but no name');
  return field('xNome', name);
};

/** An address abroad demands the NIF or the reason for its absence (E0223): 1 exempt, 2 not required by the country; 0 is refused (E0226). */
const foreignIdentity = (customer: Extract<Customer, { type: 'foreign' }>): Canonical =>
  customer.taxId !== undefined
    ? field('NIF', customer.taxId)
    : field('cNaoNIF', customer.taxIdAbsenceReason === 'exempt' ? '1' : '2');

/**
 * `toma/end` with `endNac`: the municipality exists (E0238) and has the postal code (E0240). It is sent where acceptance knew it (E0234, E0235).
 */
const domesticEnd = ({ municipality, postalCode, ...place }: DomesticAddress): Canonical =>
  element(
    'end',
    element('endNac', field('cMun', municipality), field('CEP', postalCode)),
    latinField('xLgr', place.street),
    latinField('nro', place.number),
    place.complement === undefined ? undefined : latinField('xCpl', place.complement),
    latinField('xBairro', place.district),
  );

/** `toma/end` with `endExt`: a country other than Brazil (E0246). `toma` carries the NIF or the reason for its absence (E0223, E0242). */
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
