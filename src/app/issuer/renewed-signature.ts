import { gunzipSync, gzipSync } from 'node:zlib';
import { SchemaViolation, type SignedDocument } from '../../ports/documents.js';
import type { IssuerDeps } from './deps.js';

/** A signed document as an attempt records it: gzip in base64, and the digest of what was signed. */
export type Stored = { signedGzip: string; digest: string };

/**
 * The bytes of an earlier attempt for one more send: as they were, or, when the company has another certificate by now, the
 * very same content signed by that one (ADR 19). An expired or refused certificate's signature would be refused for good
 * (E0715, E1983). Whatever cannot be renewed into the same digest goes as it was.
 */
export const signedForToday = async (
  { signedGzip, digest }: Stored,
  owner: Parameters<IssuerDeps['identityOf']>[0],
  deps: Pick<IssuerDeps, 'identityOf' | 'signer'>,
): Promise<string> => {
  const identity = await deps.identityOf(owner);
  if (identity === undefined) return signedGzip;
  const renewed = await deps.signer.renew(gunzipSync(Buffer.from(signedGzip, 'base64')), identity).catch(unlessUnfit);
  return renewed?.digest === digest ? gzipSync(renewed.bytes).toString('base64') : signedGzip;
};

const unlessUnfit = (error: unknown): SignedDocument | undefined => {
  if (error instanceof SchemaViolation) return undefined;
  throw error;
};
