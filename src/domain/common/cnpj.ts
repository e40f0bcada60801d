/** Check digit by modulo 11: weights from 2 to `highest`, again and again, from the right; a letter counts as its ASCII code minus 48. */
export const modulo11Digit = (text: string, highest: number): string => {
  let sum = 0;
  for (let fromRight = 0; fromRight < text.length; fromRight++) {
    sum += (text.charCodeAt(text.length - 1 - fromRight) - 48) * (2 + (fromRight % (highest - 1)));
  }
  const remainder = sum % 11;
  return remainder < 2 ? '0' : String(11 - remainder);
};

/** True when both check digits of a CNPJ are right, whose first twelve characters may be letters (E0080). */
export const isCnpj = (value: string): boolean => /^[0-9A-Z]{12}[0-9]{2}$/.test(value) && hasRightCheckDigits(value, 9);

/** True when both check digits of a CPF are right. */
export const isCpf = (value: string): boolean => /^[0-9]{11}$/.test(value) && hasRightCheckDigits(value, 11);

/** The last two characters by modulo 11. False also for one digit repeated, which would have the right ones. */
const hasRightCheckDigits = (value: string, highest: number): boolean => {
  const body = value.slice(0, -2);
  const first = modulo11Digit(body, highest);
  return !/^(.)\1*$/.test(value) && value.slice(-2) === first + modulo11Digit(body + first, highest);
};

/**
 * Whether two CNPJ have the same first eight characters, as those of a head office and its branches. These share a certificate
 * (docs/national-system.md#certificates), and each is a separate company here.
 */
export const haveSameRoot = (one: string, other: string): boolean => one.slice(0, 8) === other.slice(0, 8);
