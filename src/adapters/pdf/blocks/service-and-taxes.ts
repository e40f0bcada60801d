import { municipalityByCode } from '../../../tables/municipalities.js';
import { ABSENT, money, nationalServiceCode, nbsCode, percent, slashed, sumOf } from '../format.js';
import {
  labelOf,
  NOT_SUBJECT,
  regEspTrib,
  tpBM,
  tpImunidade,
  tpRetISSQN,
  tpRetPisCofins,
  tpSusp,
  tribISSQN,
} from '../labels.js';
import type { IbsCbs, Issqn, Note, Text } from '../note.js';
import { AMOUNT_SIZE, amount, type Block, field, row, strongField, titleCell, valueCell } from './grid.js';

/** The service down to its description, whose height depends on the other blocks. */
export const service = ({ service: provided }: Note): Block => ({
  top: 12.74,
  end: 13.79,
  rows: [
    row(12.74, HEIGHT, [
      titleCell('SERVIÇO PRESTADO'),
      field(2, 'Código de Tributação Nacional / Municipal', codes(provided.cTribNac, provided.cTribMun), 14),
      field(3, 'Código da NBS', nbsCode(provided.cNBS), 12),
      field(4, 'Local da Prestação / Sigla UF / País', location(provided), 42),
    ]),
    row(13.39, 0.38, [valueCell(provided.xTribMun ?? provided.xTribNac ?? ABSENT, 170)]),
  ],
});

const HEIGHT = 0.63;

const codes = (national: Text, municipal: Text): string =>
  municipal === undefined ? nationalServiceCode(national) : slashed(nationalServiceCode(national), municipal);

const location = (provided: Note['service']): string =>
  provided.cPaisPrestacao === undefined
    ? slashed(nameOf(provided.xLocPrestacao, provided.cLocPrestacao), ufOf(provided.cLocPrestacao), 'BR')
    : slashed(provided.xLocPrestacao, provided.cPaisPrestacao);

/**
 * The municipal tax; one line when the operation is not subject to it (NT 008, 2.4.5, note 4). NT 008, 2.4.5, suggests the title's place for one of
 * these fields and that field's place for the other. Anexo I is mandatory and has these places.
 */
export const issqn = ({ issqn: tax, versao }: Note): Block => ({
  top: 14.43,
  end: 17.02,
  rows: [
    row(14.43, HEIGHT, [
      titleCell('TRIBUTAÇÃO MUNICIPAL (ISSQN)'),
      field(2, 'Tipo de Tributação do ISSQN', labelOf(tribISSQN(versao), tax.tribISSQN), 21),
      field(3, 'Município / Sigla UF / País de Incidência do ISSQN', incidence(tax), 42, 2),
    ]),
    row(15.08, HEIGHT, [
      field(1, 'Regime Especial de Tributação do ISSQN', labelOf(regEspTrib, tax.regEspTrib), 27),
      field(2, 'Tipo de Imunidade do ISSQN', labelOf(tpImunidade, tax.tpImunidade), 40),
      field(3, 'Suspensão da Exigibilidade do ISSQN', labelOf(tpSusp, tax.tpSusp), 40),
      field(4, 'Número Processo Suspensão', tax.nProcesso ?? ABSENT, 30),
    ]),
    row(15.73, HEIGHT, [
      field(1, 'Benefício Municipal', labelOf(tpBM, tax.tpBM), 40),
      amount(2, 'Cálculo do BM', tax.vCalcBM ?? tax.vRedBCBM),
      amount(3, 'Total Deduções/Reduções', sumOf(tax.vCalcDR ?? tax.vDR, tax.vCalcReeRepRes)),
      amount(4, 'Desconto Incondicionado', tax.vDescIncond),
    ]),
    row(16.37, HEIGHT, [
      amount(1, 'BC ISSQN', tax.vBC),
      field(2, 'Alíquota Aplicada', percent(tax.pAliqAplic), 10),
      field(3, 'Retenção do ISSQN', labelOf(tpRetISSQN, tax.tpRetISSQN), 25),
      amount(4, 'ISSQN Apurado', tax.vISSQN),
    ]),
  ],
  ...(labelOf(tribISSQN(versao), tax.tribISSQN) === NOT_SUBJECT
    ? { instead: 'TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN' }
    : {}),
});

const incidence = (tax: Issqn): string =>
  tax.cLocIncid === undefined
    ? (tax.cPaisResult ?? ABSENT)
    : slashed(nameOf(tax.xLocIncid, tax.cLocIncid), ufOf(tax.cLocIncid), tax.cPaisResult ?? 'BR');

/** Federal taxes except CBS; PIS and COFINS only for competences up to 2026 (NT 008, 2.4.5, note 6). */
export const federal = ({ federal: taxes, dCompet }: Note): Block => {
  const end = 18.32;
  const { withheld, ownPis, ownCofins } = contributions(taxes);
  const first = row(17.02, HEIGHT, [
    titleCell('TRIBUTAÇÃO FEDERAL (EXCETO CBS)'),
    amount(2, 'IRRF', taxes.vRetIRRF),
    amount(3, 'Contribuição Previdenciária - Retida', taxes.vRetCP),
    amount(4, 'Contribuições Sociais - Retidas', withheld),
  ]);
  const pisCofins = row(17.67, HEIGHT, [
    amount(1, 'PIS - Débito Apuração Própria', ownPis),
    amount(2, 'COFINS - Débito Apuração Própria', ownCofins),
    field(3, 'Descrição Contrib. Sociais - Retidas', labelOf(tpRetPisCofins, taxes.tpRetPisCofins), 35, 2),
  ]);
  return hasPisCofins(dCompet)
    ? { top: first.top, end, rows: [first, pisCofins] }
    : { top: first.top, end, rows: [first], missing: end - pisCofins.top };
};

const hasPisCofins = (dCompet: Text): boolean => (dCompet ?? '') <= LAST_DAY_OF_PIS_COFINS;

const LAST_DAY_OF_PIS_COFINS = '2026-12-31';

/** PIS and COFINS that code 1 declares as withheld join the withheld contributions and are none of the provider's own (NT 008 v1.02, 2.4.5). */
const contributions = ({ tpRetPisCofins: code, vRetCSLL, vPis, vCofins }: Note['federal']) =>
  code === PIS_COFINS_WITHHELD
    ? { withheld: sumOf(vRetCSLL, vPis, vCofins), ownPis: '0.00', ownCofins: '0.00' }
    : { withheld: vRetCSLL, ownPis: vPis, ownCofins: vCofins };

/** `tpRetPisCofins` of the one code that NT 008 names here; codes 3 to 9, which also name the CSLL, keep the amounts of the note. */
const PIS_COFINS_WITHHELD = '1';

/** IBS and CBS. A note without them shows dashes, because NT 008, 2.3, does not allow leaving this block out. */
export const ibsCbs = (note: Note): Block => {
  const taxes: Partial<IbsCbs> = note.ibsCbs ?? {};
  const { cLocalidadeIncid: code, xLocalidadeIncid: written } = taxes;
  const place = [code, nameOf(written, code), ufOf(code)];
  const reductions = [taxes.pRedAliqUF, taxes.pRedAliqMun, taxes.pRedAliqCBS].map(percent);
  return {
    top: 18.32,
    end: 20.9,
    rows: [
      row(18.32, HEIGHT, [
        titleCell('TRIBUTAÇÃO IBS / CBS'),
        field(2, 'CST / cClassTrib', slashed(taxes.CST, taxes.cClassTrib), 12),
        field(3, OPERATION_AND_PLACE, slashed(taxes.cIndOp, ...place), 56, 2),
      ]),
      row(18.96, HEIGHT, [
        amount(1, 'Exclusões e Reduções da Base de Cálculo', exclusions(note)),
        amount(2, 'Base de Cálculo Após Exclusões e Reduções', taxes.vBC),
        field(3, 'Red. Alíquota IBS / Red. Alíquota CBS', slashed(...reductions), 30),
        field(4, 'Alíquota - IBS UF / IBS Mun', slashed(percent(taxes.pIBSUF), percent(taxes.pIBSMun)), 30),
      ]),
      row(19.61, HEIGHT, [
        field(1, 'Alíq. Efetiva Municipal - IBS', percent(taxes.pAliqEfetMun), 10),
        amount(2, 'Valor Apurado Municipal - IBS', taxes.vIBSMun),
        field(3, 'Alíq. Efetiva Estadual - IBS', percent(taxes.pAliqEfetUF), 10),
        amount(4, 'Valor Apurado Estadual - IBS', taxes.vIBSUF),
      ]),
      row(20.26, HEIGHT, [
        amount(1, 'Valor Total Apurado - IBS', taxes.vIBSTot),
        field(2, 'Alíquota - CBS', percent(taxes.pCBS), 10),
        field(3, 'Alíquota Efetiva - CBS', percent(taxes.pAliqEfetCBS), 10),
        amount(4, 'Valor Total Apurado - CBS', taxes.vCBS),
      ]),
    ],
  };
};

const OPERATION_AND_PLACE = 'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF';

/**
 * Undefined in a note without IBS and CBS, which has no such base. NT 008, 2.4.5, adds PIS and COFINS without a date, but the base beside this sum
 * excludes them for competences up to 2026 only (E1530).
 */
const exclusions = ({ ibsCbs: taxes, totals, issqn, federal, dCompet }: Note): string | undefined => {
  if (taxes === undefined) return undefined;
  const excluded = [totals.vDescIncond, taxes.vCalcReeRepRes, issqn.vISSQN];
  return hasPisCofins(dCompet) ? sumOf(...excluded, federal.vPis, federal.vCofins) : sumOf(...excluded);
};

/** Amount, deductions and net amounts of the note. */
export const totals = ({ totals: sums }: Note): Block => ({
  top: 20.9,
  end: 22.27,
  rows: [
    row(20.9, TOTALS_HEIGHT, [
      titleCell('VALOR TOTAL DA NFS-E'),
      strongField(2, 'VALOR DA OPERAÇÃO / SERVIÇO', money(sums.vServ), AMOUNT_SIZE),
      amount(3, 'Desconto Incondicionado', sums.vDescIncond),
      amount(4, 'Desconto Condicionado', sums.vDescCond),
    ]),
    row(21.59, TOTALS_HEIGHT, [
      amount(1, 'Total das Retenções (ISSQN / Federais)', sums.vTotalRet),
      strongField(2, 'VALOR LÍQUIDO DA NFS-e', money(sums.vLiq), AMOUNT_SIZE),
      amount(3, 'Total do IBS/CBS', sumOf(sums.vIBSTot, sums.vCBS)),
      strongField(4, 'VALOR LÍQUIDO DA NFS-e + IBS/CBS', money(sums.vTotNF), AMOUNT_SIZE, { shaded: true }),
    ]),
  ],
});

const TOTALS_HEIGHT = 0.67;

/** The name as the note has it. Notes of other emitters may lack it, and then the code replaces the name (NT 008, 2.4.5). */
const nameOf = (written: Text, ibgeCode: Text): Text =>
  written ?? (ibgeCode === undefined ? undefined : municipalityByCode(ibgeCode)?.name);

/** The UF of a 7-digit IBGE code; undefined for a code that IBGE does not know. */
const ufOf = (ibgeCode: Text): string | undefined =>
  ibgeCode === undefined ? undefined : municipalityByCode(ibgeCode)?.uf;
