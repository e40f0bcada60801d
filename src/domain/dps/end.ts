import type { DomesticAddress, ForeignAddress } from '../invoice/facts.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { latinField } from './latin-field.js';

/**
 * `toma/end` with `endNac`: the municipality exists (E0238) and has the postal code (E0240). Whether it is sent at all is
 * decided on acceptance, because no rule but E0234 asks for it (E0235 is not executed).
 */
export const domesticEnd = ({ municipality, postalCode, ...place }: DomesticAddress): Canonical =>
  element(
    'end',
    element('endNac', field('cMun', municipality), field('CEP', postalCode)),
    latinField('xLgr', place.street),
    latinField('nro', place.number),
    place.complement === undefined ? undefined : latinField('xCpl', place.complement),
    latinField('xBairro', place.district),
  );

/** `toma/end` with `endExt`: a country other than Brazil (E0246); NIF or the reason for none stands beside it (E0223, E0242). */
export const foreignEnd = (address: ForeignAddress): Canonical =>
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
