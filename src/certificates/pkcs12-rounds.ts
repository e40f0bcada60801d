import forge from 'node-forge';

const { asn1 } = forge;

type Node = forge.asn1.Asn1;

/** Windows and OpenSSL write 2,000 or 2,048. A million rounds take seconds, and a file may ask for two thousand times as many. */
const MOST_ROUNDS = 1_000_000;

/**
 * Whether a PFX asks for more than a million rounds of a key derivation, in its MAC or in what it keeps sealed. What lies inside of a sealed part is
 * not seen.
 */
export const asksForTooManyRounds = (node: Node): boolean => {
  if (isOf(node, asn1.Type.OCTETSTRING)) return holdsTooMany(node);
  if (!Array.isArray(node.value)) return false;
  return roundsIn(node.value) > MOST_ROUNDS || node.value.some(asksForTooManyRounds);
};

/** The parameters of a derivation begin with the salt and the rounds; the MAC has its digest before them. No other structure of a PFX has that form. */
const roundsIn = (fields: readonly Node[]): bigint => {
  const salt = fields.findIndex((field) => isOf(field, asn1.Type.OCTETSTRING));
  const rounds = fields[salt + 1];
  if (salt < 0 || salt > 1 || rounds === undefined || !isOf(rounds, asn1.Type.INTEGER)) return 0n;
  return BigInt(`0x0${Buffer.from(bytesOf(rounds), 'binary').toString('hex')}`);
};

/** PKCS#12 wraps each of its parts in an OCTET STRING. One that holds other bytes is no part. */
const holdsTooMany = (node: Node): boolean => {
  let inner: Node;
  try {
    // Read as leniently as the library reads it, so that nothing passes here and is opened there.
    inner = asn1.fromDer(bytesOf(node), false);
  } catch {
    return false;
  }
  return asksForTooManyRounds(inner);
};

const isOf = (node: Node, type: forge.asn1.Type): boolean =>
  node.tagClass === asn1.Class.UNIVERSAL && node.type === type;

/** A string may come in pieces. */
const bytesOf = ({ value }: Node): string => (typeof value === 'string' ? value : value.map(bytesOf).join(''));
