import { type Canonical, element, field } from '../common/canonical-xml.js';
import { cstOf } from '../common/classification.js';
import type { InvoiceEventData } from '../invoice/events.js';

type Facts = Pick<InvoiceEventData<'InvoiceAccepted'>, 'issuer' | 'customer' | 'line' | 'competence' | 'ibsCbs'>;

/**
 * `IBSCBS`, the declaration from which the authorizer computes IBS and CBS; undefined where the acceptance decided none (ADR 46). It declares
 * a regular note (`finNFSe` 0) whose customer is the recipient (`indDest` 0), the operation of annex C (E0901), and its classification, whose
 * first three digits are the CST (E0959), with the regular taxation of a suspension (E0965). It omits `indFinal`: that field is optional, about
 * to end, and unknown here.
 */
export const ibscbs = (facts: Facts): Canonical | undefined => {
  const declared = facts.ibsCbs ?? declaredBefore(facts);
  if (declared === undefined) return undefined;
  const { cIndOp, cClassTrib, cClassTribReg } = declared;
  return element(
    'IBSCBS',
    field('finNFSe', '0'),
    field('cIndOp', cIndOp),
    field('indDest', '0'),
    element(
      'valores',
      element(
        'trib',
        element(
          'gIBSCBS',
          field('CST', cstOf(cClassTrib)),
          field('cClassTrib', cClassTrib),
          cClassTribReg === undefined
            ? undefined
            : element('gTribRegular', field('CSTReg', cstOf(cClassTribReg)), field('cClassTribReg', cClassTribReg)),
        ),
      ),
    ),
  );
};

/**
 * What the document of an acceptance until November 2026 declares: such an acceptance recorded operation and classification of the line and
 * left the rest to the document. Its document must stay the same bytes (ADR 2).
 */
const declaredBefore = ({ issuer, customer, line, competence }: Facts): Facts['ibsCbs'] => {
  const { ibsCbs, nbs } = line;
  if (ibsCbs === undefined || nbs === undefined) return undefined;
  if (issuer.taxRegime !== 'normal' || competence < '2026-01-01') return undefined;
  if (customer?.type !== 'br' || customer.document === undefined) return undefined;
  return customer.address !== undefined || !ADDRESSED_BEFORE.has(ibsCbs.cIndOp) ? ibsCbs : undefined;
};

const ADDRESSED_BEFORE: ReadonlySet<string> = new Set(['100101', '100301', '100501']);
