import forge from 'node-forge';

const { asn1 } = forge;

type Node = forge.asn1.Asn1;

/**
 * Windows and OpenSSL write 2,000 or 2,048 for each of two or three derivations, browsers up to 600,000. Two million take 40 s to two minutes by the
 * algorithm. A sealed part is derived twice, and again for a password beyond ASCII, so such a file holds `certificate put` for minutes, and no process
 * that serves. Without a bound a file may ask for a thousand times as many in each of thousands of places.
 */
const MOST_ROUNDS = 2_000_000n;

/** A derivation counts as so many at least, so that there cannot be very many short ones. */
const LEAST_ROUNDS = 1_000n;

/** PKCS#12 wraps the list of its parts in an OCTET STRING, and each part in another. */
const WRAPS = 2;

/**
 * Whether a PFX asks for more than two million rounds of key derivation in all: in its MAC, in its sealed parts, and in the keys of all parts. The
 * sealed parts are opened for that when the rounds outside of them are few enough. One that the password does not open holds nothing here. Throws
 * what node-forge throws for an algorithm that it does not know.
 */
export const asksForTooManyRounds = (pfx: Node, password: string): boolean => {
  const nodes = nodesIn(pfx, WRAPS);
  const outside = roundsIn(nodes);
  if (outside > MOST_ROUNDS) return true;
  const inside = nodes.flatMap((node) => {
    const part = sealedPartOf(node);
    const opened = part && openedPart(part, password);
    return opened === undefined ? [] : nodesIn(opened, 0);
  });
  return outside + roundsIn(inside) > MOST_ROUNDS;
};

/** A node and all nodes below it, also those in its OCTET STRINGs, as far as `wraps` of them lie in each other. */
const nodesIn = (root: Node, wraps: number): readonly Node[] => {
  const nodes: Node[] = [];
  const add = (node: Node, left: number): void => {
    nodes.push(node);
    if (isOf(node, asn1.Type.OCTETSTRING)) {
      const inner = left === 0 ? undefined : parsed(bytesOf(node));
      if (inner !== undefined) add(inner, left - 1);
    } else if (Array.isArray(node.value)) for (const child of node.value) add(child, left);
  };
  add(root, wraps);
  return nodes;
};

const roundsIn = (nodes: readonly Node[]): bigint =>
  nodes.reduce((sum, { value }) => sum + (Array.isArray(value) ? roundsOf(value) : 0n), 0n);

/** The parameters of a derivation begin with the salt and the rounds; the MAC has its digest before them. No other structure of a PFX has that form. */
const roundsOf = (fields: readonly Node[]): bigint => {
  const salt = fields.findIndex((field) => isOf(field, asn1.Type.OCTETSTRING));
  const rounds = fields[salt + 1];
  if (salt < 0 || salt > 1 || rounds === undefined || !isOf(rounds, asn1.Type.INTEGER)) return 0n;
  const count = BigInt(`0x0${Buffer.from(bytesOf(rounds), 'binary').toString('hex')}`);
  return count < LEAST_ROUNDS ? LEAST_ROUNDS : count;
};

type SealedPart = { algorithm: Node; parameters: Node; sealed: Node };

/** The fields of a sealed part are its type, the algorithm with its parameters, and the sealed bytes under a tag of their own. */
const sealedPartOf = ({ value }: Node): SealedPart | undefined => {
  const [type, means, sealed] = Array.isArray(value) ? value : [];
  const [algorithm, parameters] = Array.isArray(means?.value) ? means.value : [];
  if (type === undefined || sealed === undefined || algorithm === undefined || parameters === undefined)
    return undefined;
  const isSealed = isOf(type, asn1.Type.OID) && isOf(algorithm, asn1.Type.OID);
  return isSealed && sealed.tagClass === asn1.Class.CONTEXT_SPECIFIC ? { algorithm, parameters, sealed } : undefined;
};

/** What node-forge opens a sealed part with; its types do not name it. */
const { getCipher } = (
  forge.pki as unknown as {
    pbe: { getCipher(algorithm: string, parameters: Node, password: string): forge.cipher.BlockCipher };
  }
).pbe;

const openedPart = ({ algorithm, parameters, sealed }: SealedPart, password: string): Node | undefined => {
  const cipher = getCipher(asn1.derToOid(bytesOf(algorithm)), parameters, password);
  cipher.update(forge.util.createBuffer(bytesOf(sealed)));
  return cipher.finish() ? parsed(cipher.output.getBytes()) : undefined;
};

/** Read as leniently as the library reads it, so that nothing passes here and is opened there. Undefined for bytes that are no part. */
const parsed = (bytes: string): Node | undefined => {
  try {
    return asn1.fromDer(bytes, false);
  } catch {
    return undefined;
  }
};

const isOf = (node: Node, type: forge.asn1.Type): boolean =>
  node.tagClass === asn1.Class.UNIVERSAL && node.type === type;

/** A string may come in pieces. They are joined as the library joins them, so that both read the same bytes. */
const bytesOf = ({ value }: Node): string =>
  typeof value === 'string' ? value : value.map((piece) => piece.value).join('');
