import { leafFacts } from '../../certificates/holder.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { issueClientCertificate } from '../../simulator/authority.js';
import type { Clock } from '../../simulator/options.js';

type Issued = { privateKeyPem: string; certificatePem: string; caPem: string };

/** Returns a certificate that the simulator's authority has issued, as the vault stores it. */
export const demoCertificate = ({
  privateKeyPem,
  certificatePem,
  caPem,
}: Issued): Omit<CompanyCertificate, 'certificateId'> => {
  const said = leafFacts(certificatePem);
  if (said === undefined) throw new Error('the certificate that was made has a validity that cannot be read');
  const { cnpj = '', ...facts } = said;
  return { privateKeyPem, certificatePem, chainPem: [caPem], cnpj, ...facts };
};

/** Issues a certificate with the authority of the simulator on `folder`. */
export const issueDemoCertificate = async (
  folder: string,
  request: { cnpj: string; name: string; clock: Clock },
): Promise<Omit<CompanyCertificate, 'certificateId'>> => demoCertificate(await issueClientCertificate(folder, request));
