import { gunzipSync, gzipSync } from 'node:zlib';
import type { Caller } from '../../ports/authorizer.js';
import {
  type DocumentSigner,
  SchemaViolation,
  type SignedDocument,
  type SigningIdentity,
} from '../../ports/documents.js';

/** Base64 of the gzipped bytes, as events keep documents (`*Gzip`). */
export const packed = (bytes: Uint8Array): string => gzipSync(bytes).toString('base64');

/** The bytes of a kept document. Throws for damaged text, and for what unpacks to more than `maxBytes`. */
export const unpacked = (gzip: string, maxBytes?: number): Buffer =>
  gunzipSync(Buffer.from(gzip, 'base64'), { maxOutputLength: maxBytes });

/** A signed document as an attempt records it: gzip in base64, the digest of what was signed, and the mark of its signature. */
export type StoredSignature = { signedGzip: string; digest: string; signatureMark?: string };

/** As an event of the log gives it: what is sealed is missing when its key is gone. */
type OpenedSignature = { [Field in keyof StoredSignature]: StoredSignature[Field] | undefined };

/**
 * The bytes of an earlier attempt for another send, or why none can be sent: `content_lost` when the key that sealed them is gone. When the company
 * has another certificate by now, the same content is signed under it (ADR 19), because the signature of an expired or refused certificate would be
 * refused for good (E0715, E1983). Bytes that cannot be renewed with the same digest are sent as they were.
 */
export const resignedIfRenewed = async (
  { signedGzip, digest, signatureMark }: OpenedSignature,
  owner: Caller,
  deps: { signer: DocumentSigner; identityOf(caller: Caller): Promise<SigningIdentity | undefined> },
): Promise<StoredSignature | 'content_lost' | 'certificate_missing'> => {
  if (signedGzip === undefined || digest === undefined) return 'content_lost';
  const stored = { signedGzip, digest, ...(signatureMark === undefined ? {} : { signatureMark }) };
  const identity = await deps.identityOf(owner);
  if (identity === undefined) return 'certificate_missing';
  const renewed = await deps.signer.renew(bytesOf(stored), identity).catch(unlessUnfit);
  if (renewed === undefined || renewed.digest !== digest) return stored;
  return storedOf(renewed);
};

export const storedOf = ({ bytes, digest, signatureMark }: SignedDocument): StoredSignature => ({
  signedGzip: packed(bytes),
  digest,
  signatureMark,
});

/** The signed bytes, unpacked before an attempt is recorded, so that none is recorded for bytes that cannot be sent. */
export const bytesOf = ({ signedGzip }: StoredSignature): Buffer => unpacked(signedGzip);

/** For `catch` of signing: undefined where our own check refuses the document. Throws every other error. */
export const unlessUnfit = (error: unknown): undefined => {
  if (error instanceof SchemaViolation) return undefined;
  throw error;
};
