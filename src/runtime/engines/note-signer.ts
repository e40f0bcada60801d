import { X509Certificate } from 'node:crypto';
import { isSignedBySimulator } from '../../simulator/authority.js';

/**
 * The certificate of the note's last signature, which is the authorizer's; the first is that of the embedded DPS. Undefined where no certificate can
 * be read. Looks for it from the end, so that the time does not grow with the note.
 */
export const signerOfNote = (nfseXml: Buffer): X509Certificate | undefined => {
  const name = nfseXml.lastIndexOf('X509Certificate>');
  if (name === -1) return undefined;
  const end = nfseXml.lastIndexOf('<', name);
  const base64 = nfseXml.toString('latin1', nfseXml.lastIndexOf('>', end) + 1, end);
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
};

/** Whether a simulator signed the note, whatever serves its mode today (ADR 5). False where no certificate can be read. */
export const isSimulatorsNote = (nfseXml: Buffer): boolean => {
  const signer = signerOfNote(nfseXml);
  return signer !== undefined && isSignedBySimulator(signer);
};
