import { isAccessKey } from '../../domain/shared/access-key.js';
import {
  hasWrongCnpj,
  hasWrongCpf,
  hasWrongEmail,
  isUnknownCnpj,
  isUnknownCpf,
  isUnknownMunicipality,
} from './checks.js';
import { isPerformedAbroad, isPerformedInBrazil } from './facts.js';
import type { Rule, RuleContext } from './rule.js';
import { asksForTpOper, OPERATIONS, OPERATIONS_ON_REAL_ESTATE, WORKS_ON_REAL_ESTATE } from './service-lists.js';

/** Operation, recipient, real estate and classification of IBS and CBS (annex I, group IBSCBS; docs/national-system.md#ibs-and-cbs). */
export const ibscbsRules: readonly Rule[] = [
  { code: 'E0850', broken: ({ dps }) => dps.has('IBSCBS') && dps.competence < '2026-01-01' },
  { code: 'E0854', broken: ({ dps }) => dps.has('IBSCBS') && dps.version < '1.01' },
  { code: 'E0901', broken: ({ dps }) => dps.has('IBSCBS') && !OPERATIONS.has(operation(dps)) },
  { code: 'E0903', broken: (context) => needsTpOper(context) && !context.dps.has('IBSCBS/tpOper') },
  { code: 'E0904', broken: (context) => !needsTpOper(context) && context.dps.has('IBSCBS/tpOper') },
  { code: 'E0905', broken: ({ dps }) => refersToNotes(dps) && !dps.has('IBSCBS/gRefNFSe') },
  { code: 'E0906', broken: ({ dps }) => !refersToNotes(dps) && dps.has('IBSCBS/gRefNFSe') },
  { code: 'E0907', broken: ({ dps }) => !dps.texts('IBSCBS/gRefNFSe/refNFSe').every(isAccessKey) },
  { code: 'E0910', broken: ({ dps }) => dps.has('IBSCBS/dest') && dps.text('IBSCBS/indDest') !== '1' },
  { code: 'E0911', broken: ({ dps }) => hasWrongCnpj(dps, 'IBSCBS/dest/CNPJ') },
  { code: 'E0912', broken: (context) => isUnknownCnpj(context, context.dps, 'IBSCBS/dest/CNPJ') },
  { code: 'E0913', broken: ({ dps }) => hasWrongCpf(dps, 'IBSCBS/dest/CPF') },
  { code: 'E0914', broken: (context) => isUnknownCpf(context, context.dps, 'IBSCBS/dest/CPF') },
  { code: 'E0920', broken: (context) => isUnknownMunicipality(context, context.dps, DEST_MUNICIPALITY) },
  {
    code: 'E0921',
    broken: ({ dps, registers }) => {
      const registered = registers.company(dps.text('IBSCBS/dest/CNPJ') ?? '').municipality;
      return registered !== undefined && dps.has(DEST_MUNICIPALITY) && dps.text(DEST_MUNICIPALITY) !== registered;
    },
  },
  {
    code: 'E0928',
    broken: ({ dps }) =>
      dps.has(IMOVEL) && !WORKS_ON_REAL_ESTATE.has(dps.serviceCode) && !OPERATIONS_ON_REAL_ESTATE.has(operation(dps)),
  },
  { code: 'E0930', broken: ({ dps }) => hasWrongEmail(dps, 'IBSCBS/dest/email') },
  { code: 'E0931', broken: ({ dps }) => dps.has(IMOVEL) && WORKS_ON_REAL_ESTATE.has(dps.serviceCode) },
  {
    code: 'E0932',
    broken: ({ dps }) =>
      !dps.has(IMOVEL) && !WORKS_ON_REAL_ESTATE.has(dps.serviceCode) && OPERATIONS_ON_REAL_ESTATE.has(operation(dps)),
  },
  {
    code: 'E0934',
    broken: (context) =>
      isPerformedAbroad(context) && context.dps.has(`${IMOVEL}/end`) && !context.dps.has(`${IMOVEL}/end/endExt`),
  },
  { code: 'E0935', broken: (context) => isPerformedInBrazil(context) && context.dps.has(`${IMOVEL}/end/endExt`) },
  { code: 'E0959', broken: ({ dps }) => isOutsideGroup(dps, `${CLASSIFICATION}/cClassTrib`, `${CLASSIFICATION}/CST`) },
  {
    code: 'E0970',
    broken: ({ dps }) => isOutsideGroup(dps, `${REGULAR}/cClassTribReg`, `${REGULAR}/CSTReg`),
  },
];

type Dps = RuleContext['dps'];

const DEST_MUNICIPALITY = 'IBSCBS/dest/end/endNac/cMun';

const IMOVEL = 'IBSCBS/imovel';

const CLASSIFICATION = 'IBSCBS/valores/trib/gIBSCBS';

const REGULAR = `${CLASSIFICATION}/gTribRegular`;

const operation = (dps: Dps): string => dps.text('IBSCBS/cIndOp') ?? '';

const needsTpOper = ({ dps }: RuleContext): boolean =>
  dps.has('IBSCBS') && (dps.has('IBSCBS/tpEnteGov') || asksForTpOper(dps.serviceCode));

/** `tpOper` 2 and 3 refer to earlier notes. */
const refersToNotes = (dps: Dps): boolean => ['2', '3'].includes(dps.text('IBSCBS/tpOper') ?? '');

/** True for a classification whose first three digits are not the declared CST. */
const isOutsideGroup = (dps: Dps, classification: string, cst: string): boolean =>
  dps.text(classification)?.startsWith(dps.text(cst) ?? '') === false;
