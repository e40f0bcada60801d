import type { CommandContext } from '../../app/event-store/command-context.js';
import { createCertificateOpener } from '../../app/issuing/open-certificate.js';
import { keyFault } from '../../certificates/key-fault.js';
import type { CompanyId } from '../../domain/common/ids.js';
import type { Company } from '../../domain/company/company.js';
import { shortCache } from '../../lib/short-cache.js';
import type { Caller } from '../../ports/authorizer.js';
import type { CompanyCertificate } from '../../ports/certificate-vault.js';
import type { Clock } from '../../ports/clock.js';
import type { Engines } from './engines.js';

/** Milliseconds for which a row that operators may change is reused. A change takes effect for new requests within 2 s. */
export const OPERATOR_CACHE_MS = 1_000;

/** Opens the current certificate of the caller's company; undefined without one that can be used. */
export type CertificateOf = (caller: Caller) => Promise<CompanyCertificate | undefined>;

type CompanyOf = (companyId: CompanyId) => Promise<Company | undefined>;

/** Returns the registration from the read model, at most a second old. */
export const companyOf = ({ readModel }: Pick<Engines, 'readModel'>, clock: Clock): CompanyOf =>
  shortCache(OPERATOR_CACHE_MS, clock, readModel.company);

/** Opens the certificates of companies, except those with a key that cannot be used. Each opening is recorded with this actor. */
export const certificatesOf = (
  { engines, clock }: { engines: Pick<Engines, 'vault' | 'store' | 'readModel'>; clock: Clock },
  actor: CommandContext['actor'],
  company: CompanyOf = companyOf(engines, clock),
): CertificateOf => {
  const { vault, store } = engines;
  return createCertificateOpener({ vault, faultOf: keyFault, store, clock, company, actor });
};
