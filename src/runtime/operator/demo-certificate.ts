import type { CommandResult } from '../../app/operator/company/company-commands.js';
import { isForSimulator, leafFacts } from '../../certificates/holder.js';
import { modes } from '../../domain/common/ids.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import { hasAuthority, issueClientCertificate } from '../../simulator/authority.js';
import { isSimulatorsMode, modesWithoutAuthorizer } from '../config/config.js';
import { certificatesOf } from '../engines/companies.js';
import { simulatorFolder } from '../engines/simulator.js';
import type { SessionParts } from './authorizer.js';

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

/** Issues a certificate by the authority of this service's simulator. Refused where no simulator takes it, and in place of a real certificate. */
export const issueDemoCertificate = async (
  { engines, config, clock }: Pick<SessionParts, 'engines' | 'config' | 'clock'>,
  { cnpj, name, actor }: { cnpj: string; name: string; actor: `support:${string}` },
): Promise<CommandResult<Omit<CompanyCertificate, 'certificateId'>>> => {
  const real = modes.filter((mode) => !isSimulatorsMode(config, mode));
  if (real.length === modes.length) return { refused: NO_MODE_SIMULATED };
  if (real.length > 0) {
    const current = await certificatesOf({ engines, clock }, actor)({ mode: 'test', companyId: cnpj });
    if (current !== undefined && !isForSimulator(current.certificatePem)) return { refused: notReplaced(cnpj) };
  }
  const folder = simulatorFolder(config);
  // A simulator of this service may start here later; one elsewhere would refuse what an authority made here signs.
  if (modesWithoutAuthorizer(config).length === 0 && !hasAuthority(folder))
    return {
      refused: `no simulator has an authority in ${folder}: set DATA_DIR to that of the simulator, and start it once before`,
    };
  return { done: demoCertificate(await issueClientCertificate(folder, { cnpj, name, clock })) };
};

const NO_MODE_SIMULATED =
  'no mode is simulated here, and only a simulator takes such a certificate: store an A1 certificate with certificate put, or name the modes of a simulator in SIMULATED_MODES';

const notReplaced = (cnpj: string): string =>
  `the certificate of ${cnpj} is not a simulator's and is not replaced: to take it out first, nfse company disable ${cnpj} and nfse certificate remove ${cnpj}`;
