/** Both check digits of a CNPJ, with letters allowed in the first twelve places: modulo 11, character value = ASCII code - 48. */
export const isCnpj = (value: string): boolean => {
  if (!/^[0-9A-Z]{12}[0-9]{2}$/.test(value) || isOneDigitRepeated(value)) return false;
  const first = cnpjDigit(value.slice(0, 12));
  return value.slice(12) === `${first}${cnpjDigit(`${value.slice(0, 12)}${first}`)}`;
};

/** Both check digits of a CPF. */
export const isCpf = (value: string): boolean => {
  if (!/^[0-9]{11}$/.test(value) || isOneDigitRepeated(value)) return false;
  const first = cpfDigit(value.slice(0, 9));
  return value.slice(9) === `${first}${cpfDigit(`${value.slice(0, 9)}${first}`)}`;
};

const isOneDigitRepeated = (value: string): boolean => /^(.)\1*$/.test(value);

/** Weights 2 to 9 from the right. */
const cnpjDigit = (body: string): number => modulo11(weigh(body, (fromRight) => 2 + (fromRight % 8)));

/** Weights 2, 3, 4 ... from the right. */
const cpfDigit = (body: string): number => modulo11(weigh(body, (fromRight) => 2 + fromRight));

const weigh = (body: string, weight: (fromRight: number) => number): number =>
  [...body].reduce((sum, c, at) => sum + (c.charCodeAt(0) - 48) * weight(body.length - 1 - at), 0);

const modulo11 = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));
