/** The part of node-forge that reads DER, without the ciphers of the whole package, which take ten times as long to load. */
declare module 'node-forge/lib/asn1.js' {
  import type forge from 'node-forge';

  const asn1: typeof forge.asn1;
  export = asn1;
}
