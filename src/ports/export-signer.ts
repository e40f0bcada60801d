/** Signs exports for auditors. The private key stays in the vault. */
export type ExportSigner = {
  /** `ed25519:<32 bytes in base64url>`, as `doctor` prints it. The first call of an installation makes the key. */
  publicKey(): Promise<string>;
  /** All keys that this installation has signed with, newest first. */
  publicKeys(): Promise<readonly string[]>;
  /** Ed25519 over the UTF-8 text, in base64url, with the key of `publicKey`. */
  sign(text: string): Promise<string>;
};
