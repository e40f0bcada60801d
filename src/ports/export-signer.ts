/** Signs exports for auditors. The private key stays in the vault. */
export type ExportSigner = {
  /** `ed25519:<32 bytes in base64url>`. The first call of an installation makes the key. Throws where its private half does not open. */
  publicKey(): Promise<string>;
  /** All keys that this installation has signed with, newest first, whose private half opens under the master key. */
  publicKeys(): Promise<readonly string[]>;
  /** How many stored keys do not open: an owner of the database has written them, or their generation of the master key is lost. */
  unopened(): Promise<number>;
  /** Ed25519 over the UTF-8 text, in base64url, with the key of `publicKey`. */
  sign(text: string): Promise<string>;
};
