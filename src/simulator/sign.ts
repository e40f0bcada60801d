import { gzipBase64 } from '../xml/packing.js';
import { signDocument } from '../xml/sign.js';
import type { World } from './environment.js';

/** Base64 of the gzipped document, whose element `id` the authorizer signs as Sefin does. */
export const signedGzip = (
  { signer }: World,
  unsigned: string,
  signedElementName: 'infNFSe' | 'infEvento',
  id: string,
): string =>
  gzipBase64(
    signDocument(unsigned, {
      ...signer,
      signedElementName,
      id,
      algorithm: 'exc-c14n-with-comments',
    }).bytes,
  );
