import { sha256 } from '../hashing/sha256.js';

/**
 * SHA-256 (hex) over digest and signature of a signed document: tells documents apart without their content. Nobody who lacks
 * the private key can make the signature of a guessed content, so the mark gives nothing to guess with (ADR 32).
 */
export const signatureMark = (digest: string, signatureValue: string): string =>
  sha256(JSON.stringify([digest, signatureValue]), 'hex');
