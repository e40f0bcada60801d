import { cancelingEvents, isAccessKey } from '../../domain/common/access-key.js';
import { modulo11Digit } from '../../domain/common/cnpj.js';
import type { DeductionKind } from '../state/entries.js';
import { deduction } from './amounts.js';
import { hasExemption } from './beneficioMunicipal.js';
import {
  hasForeignPostalCode,
  hasWrongCnpj,
  hasWrongCpf,
  isNoForeignCountry,
  isUnknownCnpj,
  isUnknownCpf,
  isUnknownMunicipality,
  lacksForeignIdentity,
} from './checks.js';
import type { Group } from './dps.js';
import { hasSpecialRegime, isAllInsideSimples, isIncidenceActive, isMei, isTaxable } from './facts.js';
import { isBelowMinimum } from './minimum.js';
import { type RuleContext, type Rules, rulesOfEach } from './rule.js';
import { DEDUCTIBLE_IN_SIMPLES } from './service-lists.js';

/** Deductions from the base of the ISSQN (annex I, group vDedRed). */
export const vDedRedRules: Rules = {
  E0435: (context) => hasDeduction(context) && !isTaxable(context),
  E0436: (context) => hasDeduction(context) && isMei(context),
  E0438: (context) => hasDeduction(context) && hasSpecialRegime(context),
  E0439: (context) => hasDeduction(context) && hasExemption(context),
  E0441: (context) => isBarredInSimples(context) && isIncidenceActive(context),
  E0442: (context) => isBarredInSimples(context) && !isIncidenceActive(context),
  E0444: (context) => has(context, 'percent') && isBelowMinimum(context, deduction(context.dps)),
  E0446: (context) => has(context, 'value') && !isAdmitted(context, 'value'),
  E0447: (context) => has(context, 'value') && isBelowMinimum(context, deduction(context.dps)),
  E0449: (context) => has(context, 'documents') && !isAdmitted(context, 'documents'),
  E0453: (context) => {
    const percent = context.dps.cents(PATHS.percent);
    return has(context, 'percent') && (percent === 0 || percent > 100_00);
  },
  E0454: (context) => has(context, 'percent') && !isAdmitted(context, 'percent'),
};

const PATHS: Record<DeductionKind, string> = {
  percent: 'valores/vDedRed/pDR',
  value: 'valores/vDedRed/vDR',
  documents: 'valores/vDedRed/documentos',
};

const hasDeduction = ({ dps }: RuleContext): boolean => dps.has('valores/vDedRed');

const has = ({ dps }: RuleContext, kind: DeductionKind): boolean => dps.has(PATHS[kind]);

const isAdmitted = ({ incidence }: RuleContext, kind: DeductionKind): boolean =>
  incidence.deductions?.includes(kind) !== false;

const isBarredInSimples = (context: RuleContext): boolean =>
  hasDeduction(context) && isAllInsideSimples(context) && !DEDUCTIBLE_IN_SIMPLES.has(context.dps.serviceCode);

/** Documents of a deduction, and their suppliers (annex I, group docDedRed). */
export const documentosDedRedRules = rulesOfEach('valores/vDedRed/documentos/docDedRed', {
  E0455: (document) => document.has('chNFSe') && !isAccessKey(document.text('chNFSe') ?? ''),
  E0456: (document, context) => isMissing(context, document.text('chNFSe')),
  E0458: (document, context) => isCanceled(context, document.text('chNFSe')),
  E0460: (document) => hasWrongNfeKey(document.text('chNFe')),
  E0466: (document, context) => isUnknownMunicipality(context, document, 'NFSeMun/cMunNFSeMun'),
  E0468: (document) => isOther(document) && !document.has('xDescOutDed'),
  E0470: (document) => !isOther(document) && document.has('xDescOutDed'),
  E0472: (document, { dps }) => (document.text('dtEmiDoc') ?? '') > dps.competence,
  E0474: (document) => document.cents('vDeducaoReducao') > document.cents('vDedutivelRedutivel'),
  E0476: (document, { dps }) => document.cents('vDeducaoReducao') > dps.amountInCents,
  E0477: (document) => !document.has('fornec') && !document.has('chNFSe') && !document.has('chNFe'),
  E0478: (document) => hasWrongCnpj(document, 'fornec/CNPJ'),
  E0482: (document, context) => isUnknownCnpj(context, document, 'fornec/CNPJ'),
  E0484: (document) => hasWrongCpf(document, 'fornec/CPF'),
  E0488: (document, context) => isUnknownCpf(context, document, 'fornec/CPF'),
  E1538: (document) => lacksForeignIdentity(document, 'fornec'),
  E0490: (document) => document.text('fornec/cNaoNIF') === '0',
  E0492: (document) =>
    (document.has('fornec/CNPJ') || document.has('fornec/CPF')) && !document.has('fornec/end/endNac'),
  E0494: (document, context) => isUnknownMunicipality(context, document, 'fornec/end/endNac/cMun'),
  E0496: (document, context) => hasForeignPostalCode(context, document, 'fornec/end/endNac'),
  E0498: (document) => document.has('fornec/NIF') && !document.has('fornec/end/endExt'),
  E0499: (document, context) => isNoForeignCountry(context, document, 'fornec/end/endExt/cPais'),
});

const isOther = (document: Group): boolean => document.text('tpDedRed') === '99';

/** A malformed key is E0455 only, so it is not also reported as missing. */
const isMissing = ({ notes }: RuleContext, key: string | undefined): boolean =>
  key !== undefined && isAccessKey(key) && notes.note(key) === undefined;

const isCanceled = ({ notes }: RuleContext, key: string | undefined): boolean =>
  key !== undefined && notes.events(key).some((type) => cancelingEvents.some((canceling) => canceling === type));

/** The check digit of an NF-e key follows the algorithm of an NFS-e key, over 43 characters. */
const hasWrongNfeKey = (key: string | undefined): boolean =>
  key !== undefined && modulo11Digit(key.slice(0, -1), 9) !== key.slice(-1);
