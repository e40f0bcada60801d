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

/** Rejection of a signer: a document that we built does not fit the official schema. This is our fault, never the caller's. */
export class SchemaViolation extends Error {
  override readonly name = 'SchemaViolation';
}

/** Checks against the official XSD, then signs (C14N 20010315, RSA-SHA256). */
export type DocumentSigner = {
  /** `unsigned` is the canonical `<DPS …>…</DPS>` without declaration and signature. Rejects with `SchemaViolation`. */
  signDps(unsigned: string, identity: SigningIdentity): Promise<SignedDocument>;
  signPedRegEvento(unsigned: string, identity: SigningIdentity): Promise<SignedDocument>;
  /** Signs the content of a signed document again. Undefined when its signature names this certificate already, or for an unknown shape. */
  renew(signed: Buffer, identity: SigningIdentity): Promise<SignedDocument | undefined>;
};

/** Judgement of a second implementation about a signature (ADR 27). `reason` never quotes the document. */
type SecondOpinion = { holds: true; digest: string; reference: string } | { holds: false; reason: string };

/** Checks the outer signature of a document whose root has the child `signedElement`. It does not check whose certificate signed. */
export type SignatureOracle = (xml: Buffer, signedElement: string) => SecondOpinion;

/**
 * Digest (SHA-256, base64) of our document inside a document of the authorizer; empty when it holds no such document. Computed with our
 * signer's algorithm, whatever algorithm the document names. `infNFSe` holds a DPS, `infEvento` a request.
 */
export type EmbeddedDigest = (xml: Buffer, signedElement: 'infNFSe' | 'infEvento') => string;

/** The text of the only element at a path from the root (`DPS/infDPS/dCompet`), by path; undefined for a document that cannot be parsed. */
export type DocumentTexts = (xml: Buffer) => ((path: string) => string | undefined) | undefined;
