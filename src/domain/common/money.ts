import type { Branded } from './brand.js';

/** An integer number of cents; never a fraction, never a float of reais. */
export type Cents = Branded<number, 'cents'>;

/**
 * `123456` to `1234.56`: the layout's decimal text, two places, point as separator (docs/national-system.md#decimals). A sum that no safe integer
 * holds is given as bigint.
 */
export const decimalFromCents = (cents: Cents | bigint): string => {
  if ((typeof cents === 'number' && !Number.isSafeInteger(cents)) || cents < 0)
    throw new Error('an amount must be a non-negative whole number of cents');
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/** `1234.56` or `1234` to `123456`; undefined for another text or when the result is not a safe integer. */
export const centsFromDecimal = (text: string): Cents | undefined => {
  const match = /^(\d+)(?:\.(\d{2}))?$/.exec(text);
  if (match === null) return undefined;
  const cents = Number(`${match[1]}${match[2] ?? '00'}`);
  return Number.isSafeInteger(cents) ? cents : undefined;
};
