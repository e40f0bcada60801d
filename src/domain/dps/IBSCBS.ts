import type { InvoiceEventData } from '../invoice/events.js';
import { type Canonical, element, field } from '../shared/canonical-xml.js';
import { isIdentifiedByCustomer } from './cIndOp.js';

type Facts = Pick<InvoiceEventData<'InvoiceAccepted'>, 'issuer' | 'customer' | 'line' | 'competence'>;

/**
 * `IBSCBS`, the declaration from which the authorizer computes IBS and CBS: a regular note (`finNFSe` 0), the customer is the
 * recipient (`indDest` 0), the operation of annex VIII (E0901) and its classification, whose first three digits are the CST
 * (E0959). Nothing where it may not or cannot honestly be sent (ADR 16). Without `indFinal`, which is optional, about to end,
 * and says what nobody has told us.
 */
export const ibscbs = (facts: Facts): Canonical | undefined => {
  const { ibsCbs } = facts.line;
  if (ibsCbs === undefined || !mayDeclare(facts)) return undefined;
  const { cIndOp, cClassTrib } = ibsCbs;
  return element(
    'IBSCBS',
    field('finNFSe', '0'),
    field('cIndOp', cIndOp),
    field('indDest', '0'),
    element(
      'valores',
      element('trib', element('gIBSCBS', field('CST', cClassTrib.slice(0, 3)), field('cClassTrib', cClassTrib))),
    ),
  );
};

/**
 * Outside the Simples only; with an NBS (E0322), a competence from 2026 on (E0850) and an identified customer in Brazil, with
 * the address where the operation demands it (E0187, E0234). An export has a treatment of its own, which is not in the table.
 */
const mayDeclare = ({ issuer, customer, line, competence }: Facts): boolean =>
  issuer.taxRegime === 'normal' &&
  line.nbs !== undefined &&
  competence >= FIRST_COMPETENCE &&
  customer?.type === 'br' &&
  customer.document !== undefined &&
  (customer.address !== undefined || !isIdentifiedByCustomer(line.ibsCbs?.cIndOp));

const FIRST_COMPETENCE = '2026-01-01';
