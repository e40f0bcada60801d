/** A company's key and leaf certificate, opened for one use. PEM text. */
export type SigningIdentity = { privateKeyPem: string; certificatePem: string };

export type SignedDocument = {
  /** Exact UTF-8 bytes, XML declaration included, one line. */
  bytes: Buffer;
  /** DigestValue (base64) of the signed element. */
  digest: string;
  /** SHA-256 over digest and signature, hex (ADR 32). */
  signatureMark: string;
};

/** What a signer rejects with when a document that we built does not fit the official schema: our fault, never the caller's. */
export class SchemaViolation extends Error {
  override readonly name = 'SchemaViolation';
}

/** Checks against the official XSD, then signs (C14N 20010315, RSA-SHA256). */
export type DocumentSigner = {
  /** `unsigned` is the canonical `<DPS …>…</DPS>` without declaration and signature. Rejects with `SchemaViolation`. */
  signDps(unsigned: string, identity: SigningIdentity): Promise<SignedDocument>;
  signPedRegEvento(unsigned: string, identity: SigningIdentity): Promise<SignedDocument>;
  /** What one of the two has signed, signed anew; undefined when its signature names this certificate already, or for a foreign shape. */
  renew(signed: Buffer, identity: SigningIdentity): Promise<SignedDocument | undefined>;
};

/** What another implementation than that of the hot path says of a signature (design section 9). `reason` never quotes the document. */
export type SecondOpinion = { holds: true; digest: string; reference: string } | { holds: false; reason: string };

/** Asked about the outer signature of a document whose root has the child `signedElement`; whose certificate it is is not asked. */
export type SignatureOracle = (xml: Buffer, signedElement: string) => SecondOpinion;

/**
 * Digest (SHA-256, base64) of our own document inside of one of the authorizer's, computed with our signer's algorithm whatever the
 * document names; empty when there is none. `infNFSe` holds a DPS, `infEvento` a request.
 */
export type EmbeddedDigest = (xml: Buffer, signedElement: 'infNFSe' | 'infEvento') => string;
