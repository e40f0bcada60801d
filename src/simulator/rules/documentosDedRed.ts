import { accessKeyCheckDigit, isAccessKey } from '../../domain/shared/access-key.js';
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
import type { Rule, RuleContext } from './rule.js';

/** Documents of a deduction, and their suppliers (annex I, group docDedRed). A rule is broken when one document breaks it. */
const ofAny = (test: (document: Group, context: RuleContext) => boolean): Rule['broken'] => {
  return (context) =>
    context.dps.each('valores/vDedRed/documentos/docDedRed').some((document) => test(document, context));
};

export const documentosDedRedRules: readonly Rule[] = [
  { code: 'E0455', broken: ofAny((document) => document.has('chNFSe') && !isAccessKey(document.text('chNFSe') ?? '')) },
  { code: 'E0456', broken: ofAny((document, context) => isMissing(context, document.text('chNFSe'))) },
  { code: 'E0458', broken: ofAny((document, context) => isCanceled(context, document.text('chNFSe'))) },
  { code: 'E0460', broken: ofAny((document) => hasWrongNfeKey(document.text('chNFe'))) },
  {
    code: 'E0466',
    broken: ofAny((document, context) => isUnknownMunicipality(context, document, 'NFSeMun/cMunNFSeMun')),
  },
  { code: 'E0468', broken: ofAny((document) => isOther(document) && !document.has('xDescOutDed')) },
  { code: 'E0470', broken: ofAny((document) => !isOther(document) && document.has('xDescOutDed')) },
  { code: 'E0472', broken: ofAny((document, { dps }) => (document.text('dtEmiDoc') ?? '') > dps.competence) },
  {
    code: 'E0474',
    broken: ofAny((document) => document.cents('vDeducaoReducao') > document.cents('vDedutivelRedutivel')),
  },
  { code: 'E0476', broken: ofAny((document, { dps }) => document.cents('vDeducaoReducao') > dps.amountInCents) },
  {
    code: 'E0477',
    broken: ofAny((document) => !document.has('fornec') && !document.has('chNFSe') && !document.has('chNFe')),
  },
  { code: 'E0478', broken: ofAny((document) => hasWrongCnpj(document, 'fornec/CNPJ')) },
  { code: 'E0482', broken: ofAny((document, context) => isUnknownCnpj(context, document, 'fornec/CNPJ')) },
  { code: 'E0484', broken: ofAny((document) => hasWrongCpf(document, 'fornec/CPF')) },
  { code: 'E0488', broken: ofAny((document, context) => isUnknownCpf(context, document, 'fornec/CPF')) },
  { code: 'E1538', broken: ofAny((document) => lacksForeignIdentity(document, 'fornec')) },
  { code: 'E0490', broken: ofAny((document) => document.text('fornec/cNaoNIF') === '0') },
  {
    code: 'E0492',
    broken: ofAny(
      (document) => (document.has('fornec/CNPJ') || document.has('fornec/CPF')) && !document.has('fornec/end/endNac'),
    ),
  },
  {
    code: 'E0494',
    broken: ofAny((document, context) => isUnknownMunicipality(context, document, 'fornec/end/endNac/cMun')),
  },
  { code: 'E0496', broken: ofAny((document, context) => hasForeignPostalCode(context, document, 'fornec/end/endNac')) },
  { code: 'E0498', broken: ofAny((document) => document.has('fornec/NIF') && !document.has('fornec/end/endExt')) },
  {
    code: 'E0499',
    broken: ofAny((document, context) => isNoForeignCountry(context, document, 'fornec/end/endExt/cPais')),
  },
];

const isOther = (document: Group): boolean => document.text('tpDedRed') === '99';

/** A malformed key is E0455 only, so it is not also reported as missing. */
const isMissing = ({ notes }: RuleContext, key: string | undefined): boolean =>
  key !== undefined && isAccessKey(key) && notes.note(key) === undefined;

const isCanceled = ({ notes }: RuleContext, key: string | undefined): boolean =>
  key !== undefined && notes.events(key).some((type) => ['101101', '105102', '105104', '305101'].includes(type));

/** The check digit of an NF-e key follows the algorithm of an NFS-e key, over 43 characters. */
const hasWrongNfeKey = (key: string | undefined): boolean =>
  key !== undefined && accessKeyCheckDigit(key.slice(0, -1).padStart(49, '0')) !== key.slice(-1);
