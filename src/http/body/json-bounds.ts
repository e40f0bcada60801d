/** No valid body nests deeper than 3; parsing millions of levels would block the process for seconds. */
export const MAX_DEPTH = 64;

/** Commas, colons, braces and brackets outside of strings. The fullest valid body has about 60. */
export const MAX_STRUCTURE = 2_000;

/** What is left for the parser. The longest valid body, all of it escaped, needs some 40 KiB. */
export const MAX_TEXT_BYTES = 256 * 1024;

/**
 * What is kept of each string, as sent. The longest field holds 2000 characters of at most 12 bytes each, so a string that
 * is cut is still too long for every field.
 */
export const MAX_STRING_BYTES = 32 * 1024;

/** Digits of a number in a row. */
export const MAX_DIGITS = 128;

/** A number has at most three rows of digits, with their signs: nothing longer is JSON. */
export const MAX_SCALAR_BYTES = 512;
