import forge from 'node-forge';

/** A PFX by node-forge, which also makes the legacy 3DES files; `certificates` in the order of the file, PEM all of it. */
export const pfxOf = (
  key: string | null,
  certificates: readonly string[],
  { password, algorithm = '3des' }: { password: string; algorithm?: 'aes256' | '3des' },
): Buffer => {
  const privateKey = key === null ? null : forge.pki.privateKeyFromPem(key);
  const bags = certificates.map((pem) => forge.pki.certificateFromPem(pem));
  const asn1 = forge.pkcs12.toPkcs12Asn1(privateKey, bags, password, { algorithm });
  return Buffer.from(forge.asn1.toDer(asn1).getBytes(), 'binary');
};
