import { type Canonical, element, field } from '../common/canonical-xml.js';
import type { InvoiceEventData } from '../invoice/events.js';

type Facts = Pick<InvoiceEventData<'InvoiceAccepted'>, 'issuer' | 'customer' | 'line' | 'competence'>;

/**
 * `IBSCBS`, the declaration from which the authorizer computes IBS and CBS; undefined where it may not or cannot honestly be sent (ADR 16).
 * It declares a regular note (`finNFSe` 0) whose customer is the recipient (`indDest` 0), the operation of annex VIII (E0901), and its
 * classification, whose first three digits are the CST (E0959). It omits `indFinal`: that field is optional, about to end, and unknown here.
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
 * Only outside the Simples, with an NBS (E0322), a competence from 2026 on (E0850) and an identified customer in Brazil, with the address
 * where the operation demands it (E0187, E0234). An export is treated differently, in a way that the table does not have.
 */
const mayDeclare = ({ issuer, customer, line, competence }: Facts): boolean =>
  issuer.taxRegime === 'normal' &&
  line.nbs !== undefined &&
  competence >= FIRST_COMPETENCE &&
  customer?.type === 'br' &&
  customer.document !== undefined &&
  (customer.address !== undefined || !isIdentifiedByCustomer(line.ibsCbs?.cIndOp));

const FIRST_COMPETENCE = '2026-01-01';

/**
 * `IBSCBS/cIndOp`: the operation indicators of annex C that the rules tell apart. The others need groups or places that the API has no
 * fields for: real estate (E0932), events, transport (where a journey begins or a load is delivered), the recipient's address, and places
 * of neither party.
 */

/** Operations placed by the customer's address; customer and address are demanded (E0187, E0234). */
const BY_CUSTOMER: ReadonlySet<string> = new Set(['100101', '100301', '100501']);

/** Operations placed by the provider's establishment or by `locPrest`: on a person, on goods, in a port. */
const BY_PROVIDER: ReadonlySet<string> = new Set(['030101', '050101', '050201']);

/** True where E0234 demands the customer's address. */
const isIdentifiedByCustomer = (cIndOp: string | undefined): boolean => cIndOp !== undefined && BY_CUSTOMER.has(cIndOp);

/** True for an operation about which this service knows everything that the layout asks. */
export const isDeclarable = (cIndOp: string): boolean => BY_CUSTOMER.has(cIndOp) || BY_PROVIDER.has(cIndOp);
