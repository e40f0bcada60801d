import { dpsId } from '../shared/access-key.js';
import { elementWith } from '../shared/canonical-xml.js';
import { type DpsInput, infDPS } from './infDPS.js';
import { LAYOUT_VERSION, NFSE_NAMESPACE } from './layout.js';

/**
 * The unsigned DPS of layout 1.01 in canonical form, and its Id. Pure: the same acceptance and number give the same
 * bytes for ever (design section 6, 2). Throws `CustomerNameMissing` for an identified customer without a name.
 */
export const buildDps = (input: DpsInput): { id: string; xml: string } => {
  const { issuer, companyId } = input.accepted;
  const { series, number } = input;
  const id = dpsId({ municipality: issuer.municipality, cnpj: companyId, series, number });
  return { id, xml: elementWith('DPS', { xmlns: NFSE_NAMESPACE, versao: LAYOUT_VERSION }, infDPS(input, id)) };
};
