import { gunzipSync, gzipSync } from 'node:zlib';
import { SchemaViolation, type SignedDocument } from '../../ports/documents.js';
import type { IssuerDeps } from './deps.js';

/** A signed document as an attempt records it: gzip in base64, the digest of what was signed, and the mark of its signature. */
export type Stored = { signedGzip: string; digest: string; signatureMark?: string };

/**
 * The bytes of an earlier attempt for one more send: as they were, or, when the company has another certificate by now, the
 * very same content signed by that one (ADR 19). An expired or refused certificate's signature would be refused for good
 * (E0715, E1983). Whatever cannot be renewed into the same digest goes as it was.
 */
export const signedForToday = async (
  stored: Stored,
  owner: Parameters<IssuerDeps['identityOf']>[0],
  deps: Pick<IssuerDeps, 'identityOf' | 'signer'>,
): Promise<Stored> => {
  const identity = await deps.identityOf(owner);
  if (identity === undefined) return stored;
  const renewed = await deps.signer
    .renew(gunzipSync(Buffer.from(stored.signedGzip, 'base64')), identity)
    .catch(unlessUnfit);
  if (renewed === undefined || renewed.digest !== stored.digest) return stored;
  return storedOf(renewed);
};

export const storedOf = ({ bytes, digest, signatureMark }: SignedDocument): Stored => ({
  signedGzip: gzipSync(bytes).toString('base64'),
  digest,
  signatureMark,
});

const unlessUnfit = (error: unknown): SignedDocument | undefined => {
  if (error instanceof SchemaViolation) return undefined;
  throw error;
};
