import type { Municipality } from '../state/registry.js';
import { isCnpj, isCpf } from './check-digits.js';
import type { Group } from './dps.js';
import type { RuleContext } from './rule.js';

/** Checks of one value; each is false for an element that is absent. */

export const hasWrongCnpj = (group: Group, path: string): boolean => isWrong(group.text(path), isCnpj);

export const hasWrongCpf = (group: Group, path: string): boolean => isWrong(group.text(path), isCpf);

/** Not in the CNPJ register, which knows every number that it was not told to miss. */
export const isUnknownCnpj = ({ registers }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), (cnpj) => registers.company(cnpj).registered !== false);

export const isUnknownCpf = ({ registers }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), (cpf) => registers.person(cpf).registered !== false);

export const isUnknownMunicipality = ({ tables }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), (ibge) => tables.municipality(ibge) !== undefined);

export const isNoForeignCountry = ({ tables }: RuleContext, group: Group, path: string): boolean =>
  isWrong(group.text(path), tables.isForeignCountry);

/** A postal code outside those of the municipality, once it was told which are its own. */
export const isOutside = ({ postalCodes }: Municipality, postalCode: string | undefined): boolean =>
  postalCodes !== undefined && isWrong(postalCode, (code) => postalCodes.some((own) => code.startsWith(own)));

/** The `endNac` of a party whose CEP is not of its municipality. */
export const hasForeignPostalCode = ({ registers }: RuleContext, group: Group, endNac: string): boolean =>
  isOutside(registers.municipality(group.text(`${endNac}/cMun`) ?? ''), group.text(`${endNac}/CEP`));

export const hasWrongEmail = (group: Group, path: string): boolean =>
  isWrong(group.text(path), (email) => /^[^@\s]+@[^@\s]+\.[^@\s.]+$/.test(email));

/** `endExt` without `NIF` or `cNaoNIF`. */
export const lacksForeignIdentity = (group: Group, party: string, end = `${party}/end/endExt`): boolean =>
  group.has(end) && !group.has(`${party}/NIF`) && !group.has(`${party}/cNaoNIF`);

const isWrong = (value: string | undefined, isRight: (value: string) => boolean): boolean =>
  value !== undefined && !isRight(value);
