/** Signs what leaves the service for an auditor. The private key stays in the vault. */
export type ExportSigner = {
  /** `ed25519:<32 bytes in base64url>`, as `doctor` prints it; the first call ever makes the key. */
  publicKey(): Promise<string>;
  /** Newest first: what this installation has ever signed with. */
  publicKeys(): Promise<readonly string[]>;
  /** Ed25519 over the UTF-8 text, in base64url; with the key of `publicKey`. */
  sign(text: string): Promise<string>;
};
