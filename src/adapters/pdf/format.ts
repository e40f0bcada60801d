import type { Address } from './note.js';

/** Shown where the XML holds no value (NT 008, 2.4.5, note 12). */
export const ABSENT = '-';

/** `1234.5` to `R$ 1.234,50`. Works on the text, so that no amount is too large to be exact. */
export const money = (decimal: string | undefined): string => brazilian(decimal, (text) => `R$ ${text}`);

/** `2.5` to `2,50%`. */
export const percent = (decimal: string | undefined): string => brazilian(decimal, (text) => `${text}%`);

/**
 * Exact sum of decimals. Undefined when all are absent, because nothing is printed that the XML does not hold, and when one of them is not a
 * decimal, because the sum would be wrong.
 */
export const sumOf = (...decimals: readonly (string | undefined)[]): string | undefined => {
  const hundredths: bigint[] = [];
  for (const decimal of decimals.filter((each) => each !== undefined)) {
    const parts = DECIMAL.exec(decimal);
    if (parts === null) return undefined;
    hundredths.push(BigInt(`${parts[1]}${twoPlaces(parts[2])}`));
  }
  if (hundredths.length === 0) return undefined;
  const digits = String(hundredths.reduce((total, each) => total + each, 0n)).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/** `2026-03-03...` to `03/03/2026`. */
export const day = (text: string | undefined): string => {
  const parts = DAY.exec(text ?? '');
  return parts === null ? (text ?? ABSENT) : `${parts[3]}/${parts[2]}/${parts[1]}`;
};

/** `2026-03-03T12:17:37-03:00` to `03/03/2026 12:17:37`: the hour as the issuer's clock showed it. */
export const dayAndTime = (text: string | undefined): string => {
  const time = /T(\d{2}:\d{2}:\d{2})/.exec(text ?? '');
  return time === null ? day(text) : `${day(text)} ${time[1]}`;
};

/** CNPJ (digits, or letters since July 2026) and CPF with their punctuation; anything else as it is. */
export const taxId = (id: string | undefined): string => {
  if (id === undefined) return ABSENT;
  if (/^[0-9A-Z]{12}\d{2}$/.test(id)) return id.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5');
  if (/^\d{11}$/.test(id)) return id.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4');
  return id;
};

/** `24020077` to `24.020-077`; a foreign code as it is. */
export const postalCode = (code: string | undefined): string =>
  (code ?? ABSENT).replace(/^(\d{2})(\d{3})(\d{3})$/, '$1.$2-$3');

/** `2100000000` to `(21) 0000-0000`. A number that has no area code of Brazil, or no form of one of its numbers, as it is. */
export const brazilianPhone = (digits: string | undefined): string =>
  (digits ?? ABSENT).replace(/^([1-9]{2})(9?\d{4})(\d{4})$/, '($1) $2-$3');

/** `010101` to `01.01.01`. */
export const nationalServiceCode = (code: string | undefined): string =>
  (code ?? ABSENT).replace(/^(\d{2})(\d{2})(\d{2})$/, '$1.$2.$3');

/** `115021000` to `1.1502.10.00`. */
export const nbsCode = (code: string | undefined): string =>
  (code ?? ABSENT).replace(/^(\d)(\d{4})(\d{2})(\d{2})$/, '$1.$2.$3.$4');

/** Parts separated as in NT 008 (`a / b`); an absent part shows as `-`, and all absent as one `-`. */
export const slashed = (...parts: readonly (string | undefined)[]): string =>
  parts.every((part) => part === undefined || part === ABSENT)
    ? ABSENT
    : parts.map((part) => part ?? ABSENT).join(' / ');

/** The parts that are there, with commas; undefined when none is. */
export const listed = (...parts: readonly (string | undefined)[]): string | undefined =>
  parts.filter((part) => part !== undefined).join(', ') || undefined;

/** Street, number, further data of the place and district. */
export const streetOf = (address: Address | undefined): string | undefined =>
  listed(address?.xLgr, address?.nro, address?.xCpl, address?.xBairro);

/** Characters, as `shortened` counts them. */
export const lengthOf = (text: string): number => Array.from(text).length;

/** At most `size` characters, the last three of them `...` when something was left out (NT 008, table of fields). */
export const shortened = (text: string, size: number): string => {
  const characters = Array.from(text);
  return characters.length <= size ? text : ellipsed(characters.slice(0, size - 3).join(''));
};

/** The text with `...` after it, and no full stop of the text before these dots. */
export const ellipsed = (text: string): string => `${text.replace(/\.+$/, '')}...`;

/** The schema allows 15 digits, and a sum of amounts has one more. Longer text is not an amount, and formatting it would be slow. */
const DECIMAL = /^(\d{1,18})(?:\.(\d{1,2}))?$/;

const DAY = /^(\d{4})-(\d{2})-(\d{2})/;

const twoPlaces = (fraction: string | undefined): string => (fraction ?? '').padEnd(2, '0');

const brazilian = (decimal: string | undefined, decorate: (text: string) => string): string => {
  if (decimal === undefined) return ABSENT;
  const parts = DECIMAL.exec(decimal);
  if (parts === null) return decimal;
  const whole = (parts[1] ?? '').replace(/\B(?=(\d{3})+$)/g, '.');
  return decorate(`${whole},${twoPlaces(parts[2])}`);
};
