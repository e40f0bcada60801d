import { isCnpj, isCpf } from '../../domain/common/cnpj.js';
import type { Municipality } from '../state/entries.js';
import type { Dps, Group } from './dps.js';
import type { RuleContext } from './rule.js';

/* Checks of one value; each is false for an absent element. */

export const hasWrongCnpj = (group: Group, path: string): boolean => isWrong(group.text(path), isCnpj);

export const hasWrongCpf = (group: Group, path: string): boolean => isWrong(group.text(path), isCpf);

/** The CNPJ register knows every number, except those that an entry marks as unregistered. */
export const isUnknownCnpj = ({ registers }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), (cnpj) => registers.company(cnpj).registered !== false);

export const isUnknownCpf = ({ registers }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), (cpf) => registers.person(cpf).registered !== false);

export const isUnknownMunicipality = ({ tables }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), (ibge) => tables.municipality(ibge) !== undefined);

export const isNoForeignCountry = ({ tables }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), tables.isForeignCountry);

/** An amount withheld, or a discount, must be above zero and below the amount of the service. */
export const isOutOfRange = (dps: Dps, path: string): boolean =>
  dps.has(path) && (dps.cents(path) === 0 || dps.cents(path) >= dps.amountInCents);

/** True for a postal code outside the municipality; false when the registry lists no postal codes of the municipality. */
export const isOutside = ({ postalCodes }: Municipality, postalCode: string | undefined): boolean =>
  postalCodes !== undefined && isWrong(postalCode, (code) => postalCodes.some((own) => code.startsWith(own)));

/** True for an `endNac` whose CEP belongs to another municipality. */
export const hasForeignPostalCode = ({ registers }: RuleContext, group: Group, endNac: string): boolean =>
  isOutside(registers.municipality(group.text(`${endNac}/cMun`) ?? ''), group.text(`${endNac}/CEP`));

export const hasWrongEmail = (group: Group, path: string): boolean =>
  isWrong(group.text(path), (email) => /^[^@\s]+@[^@\s]+\.[^@\s.]+$/.test(email));

/** True for a party with `endExt` and neither `NIF` nor `cNaoNIF`. */
export const lacksForeignIdentity = (group: Group, party: string): boolean =>
  group.has(`${party}/end/endExt`) && !group.has(`${party}/NIF`) && !group.has(`${party}/cNaoNIF`);

const isWrong = (value: string | undefined, isRight: (value: string) => boolean): boolean =>
  value !== undefined && !isRight(value);
