/**
 * What an operator may change holds for new requests within 2 s (interface.md "Commands"); the read model is asked for it at most
 * this often, in milliseconds.
 */
export const OPERATOR_CACHE_MS = 1_000;
