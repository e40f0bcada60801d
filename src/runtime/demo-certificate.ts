import { createHash, X509Certificate } from 'node:crypto';
import { cnpjOf } from '../certificates/holder.js';
import type { CompanyCertificate } from '../ports/certificate-vault.js';

type Issued = { privateKeyPem: string; certificatePem: string; caPem: string };

/** What the vault keeps of a certificate that the simulator's authority has just made. */
export const demoCertificate = async (
  issue: () => Promise<Issued>,
): Promise<Omit<CompanyCertificate, 'certificateId'>> => {
  const { privateKeyPem, certificatePem, caPem } = await issue();
  const { raw, validFrom, validTo } = new X509Certificate(certificatePem);
  return {
    privateKeyPem,
    certificatePem,
    chainPem: [caPem],
    cnpj: cnpjOf(raw) ?? '',
    notBefore: new Date(validFrom).toISOString(),
    notAfter: new Date(validTo).toISOString(),
    fingerprint: createHash('sha256').update(raw).digest('hex'),
  };
};
