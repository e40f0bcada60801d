import { dpsId } from '../../domain/common/access-key.js';
import { MAX_DPS_NUMBER } from '../../domain/dps-number/dps-number.js';
import type { Caller } from '../../ports/authorizer.js';
import type { IssuerDeps } from './deps.js';

/**
 * Asks for the DPS with the last number of the company's series, which no invoice has. For a document that exists, Sefin answers 403 to a good
 * certificate too when its company is no actor of the document (ADR 47). The absent DPS has no actors, so its 404 shows that the certificate is taken.
 */
export const probeCertificate = async (
  caller: Caller,
  municipality: string,
  { authorizer, company }: Pick<IssuerDeps, 'authorizer' | 'company'>,
): Promise<void> => {
  const { mode, companyId } = caller;
  const series = (await company(companyId))?.registration.dps[mode].series;
  if (series === undefined) return;
  await authorizer.findByDps(caller, dpsId({ municipality, cnpj: companyId, series, number: MAX_DPS_NUMBER }));
};
