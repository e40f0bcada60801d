import { municipalityByCode } from '../../../tables/municipalities.js';
import { ABSENT, money, nationalServiceCode, nbsCode, percent, slashed, sumOf } from '../format.js';
import { labelOf, regEspTrib, tpBM, tpImunidade, tpRetISSQN, tpRetPisCofins, tpSusp, tribISSQN } from '../labels.js';
import type { IbsCbs, Issqn, Note, Text } from '../note.js';
import {
  AMOUNT_SIZE,
  amount,
  type Block,
  type Cell,
  field,
  type Row,
  strongField,
  titleCell,
  valueCell,
} from './grid.js';

/** The service down to its description, whose height depends on the other blocks. */
export const service = ({ service: provided }: Note): Block => ({
  top: 12.74,
  end: 13.79,
  rows: [
    {
      top: 12.74,
      height: 0.63,
      cells: [
        titleCell('SERVIÇO PRESTADO'),
        field(2, 'Código de Tributação Nacional / Municipal', codes(provided.cTribNac, provided.cTribMun), 14),
        field(3, 'Código da NBS', nbsCode(provided.cNBS), 12),
        field(4, 'Local da Prestação / Sigla UF / País', location(provided), 42),
      ],
    },
    { top: 13.39, height: 0.38, cells: [valueCell(provided.xTribMun ?? provided.xTribNac ?? ABSENT, 170)] },
  ],
});

const codes = (national: Text, municipal: Text): string =>
  municipal === undefined ? nationalServiceCode(national) : slashed(nationalServiceCode(national), municipal);

const location = (provided: Note['service']): string =>
  provided.cPaisPrestacao === undefined
    ? slashed(provided.xLocPrestacao, ufOf(provided.cLocPrestacao), 'BR')
    : slashed(provided.xLocPrestacao, provided.cPaisPrestacao);

/** The municipal tax; one line when the operation is not subject to it (NT 008, 2.4.5, note 4). */
export const issqn = ({ issqn: tax }: Note): Block => ({
  top: 14.43,
  end: 17.02,
  rows: [
    { top: 14.43, height: HEIGHT, cells: kind(tax) },
    { top: 15.08, height: HEIGHT, cells: regime(tax) },
    { top: 15.73, height: HEIGHT, cells: benefit(tax) },
    { top: 16.37, height: HEIGHT, cells: assessed(tax) },
  ],
  ...(tax.tribISSQN === NOT_SUBJECT ? { instead: 'TRIBUTAÇÃO MUNICIPAL (ISSQN) - OPERAÇÃO NÃO SUJEITA AO ISSQN' } : {}),
});

const HEIGHT = 0.63;

/** `tribISSQN` of an operation outside the tax. */
const NOT_SUBJECT = '4';

// NT 008, 2.4.5, suggests the title's place for one of these fields and that field's place for the other. Anexo I is mandatory and has these
// places.
const kind = (tax: Issqn): readonly Cell[] => [
  titleCell('TRIBUTAÇÃO MUNICIPAL (ISSQN)'),
  field(2, 'Tipo de Tributação do ISSQN', labelOf(tribISSQN, tax.tribISSQN), 21),
  field(3, 'Município / Sigla UF / País de Incidência do ISSQN', incidence(tax), 42, 2),
];

const regime = (tax: Issqn): readonly Cell[] => [
  field(1, 'Regime Especial de Tributação do ISSQN', labelOf(regEspTrib, tax.regEspTrib), 27),
  field(2, 'Tipo de Imunidade do ISSQN', labelOf(tpImunidade, tax.tpImunidade), 40),
  field(3, 'Suspensão da Exigibilidade do ISSQN', labelOf(tpSusp, tax.tpSusp), 40),
  field(4, 'Número Processo Suspensão', tax.nProcesso ?? ABSENT, 30),
];

const benefit = (tax: Issqn): readonly Cell[] => [
  field(1, 'Benefício Municipal', labelOf(tpBM, tax.tpBM), 40),
  amount(2, 'Cálculo do BM', tax.vCalcBM ?? tax.vRedBCBM),
  amount(3, 'Total Deduções/Reduções', sumOf(tax.vCalcDR ?? tax.vDR, tax.vCalcReeRepRes)),
  amount(4, 'Desconto Incondicionado', tax.vDescIncond),
];

const assessed = (tax: Issqn): readonly Cell[] => [
  amount(1, 'BC ISSQN', tax.vBC),
  field(2, 'Alíquota Aplicada', percent(tax.pAliqAplic), 10),
  field(3, 'Retenção do ISSQN', labelOf(tpRetISSQN, tax.tpRetISSQN), 25),
  amount(4, 'ISSQN Apurado', tax.vISSQN),
];

const incidence = (tax: Issqn): string =>
  tax.cLocIncid === undefined
    ? (tax.cPaisResult ?? ABSENT)
    : slashed(tax.xLocIncid, ufOf(tax.cLocIncid), tax.cPaisResult ?? 'BR');

/** Federal taxes except CBS; PIS and COFINS only for competences up to 2026 (NT 008, 2.4.5, note 6). */
export const federal = (note: Note): Block => {
  const first: Row = {
    top: 17.02,
    height: HEIGHT,
    cells: [
      titleCell('TRIBUTAÇÃO FEDERAL (EXCETO CBS)'),
      amount(2, 'IRRF', note.federal.vRetIRRF),
      amount(3, 'Contribuição Previdenciária - Retida', note.federal.vRetCP),
      amount(4, 'Contribuições Sociais - Retidas', note.federal.vRetCSLL),
    ],
  };
  return (note.dCompet ?? '') <= LAST_DAY_OF_PIS_COFINS
    ? { top: first.top, end: 18.32, rows: [first, pisCofins(note)] }
    : { top: first.top, end: 18.32, rows: [first], missing: 18.32 - PIS_COFINS };
};

/** Top of the row that is printed for competences up to 2026 only. */
const PIS_COFINS = 17.67;

const LAST_DAY_OF_PIS_COFINS = '2026-12-31';

const pisCofins = ({ federal: taxes }: Note): Row => ({
  top: PIS_COFINS,
  height: HEIGHT,
  cells: [
    amount(1, 'PIS - Débito Apuração Própria', taxes.vPis),
    amount(2, 'COFINS - Débito Apuração Própria', taxes.vCofins),
    field(3, 'Descrição Contrib. Sociais - Retidas', labelOf(tpRetPisCofins, taxes.tpRetPisCofins), 35, 2),
  ],
});

/** IBS and CBS. A note without them shows dashes, because NT 008, 2.3, does not allow leaving this block out. */
export const ibsCbs = (note: Note): Block => {
  const taxes = note.ibsCbs ?? {};
  return {
    top: 18.32,
    end: 20.9,
    rows: [
      { top: 18.32, height: HEIGHT, cells: operation(taxes) },
      { top: 18.96, height: HEIGHT, cells: base(taxes, note) },
      { top: 19.61, height: HEIGHT, cells: ibs(taxes) },
      { top: 20.26, height: HEIGHT, cells: sums(taxes) },
    ],
  };
};

type Taxes = Partial<IbsCbs>;

const operation = (taxes: Taxes): readonly Cell[] => [
  titleCell('TRIBUTAÇÃO IBS / CBS'),
  field(2, 'CST / cClassTrib', slashed(taxes.CST, taxes.cClassTrib), 12),
  field(
    3,
    'Indicador de Operação / Código IBGE Incidência / Município Incidência / Sigla UF',
    slashed(taxes.cIndOp, taxes.cLocalidadeIncid, taxes.xLocalidadeIncid, ufOf(taxes.cLocalidadeIncid)),
    56,
    2,
  ),
];

const base = (taxes: Taxes, note: Note): readonly Cell[] => [
  amount(1, 'Exclusões e Reduções da Base de Cálculo', exclusions(note)),
  amount(2, 'Base de Cálculo Após Exclusões e Reduções', taxes.vBC),
  field(
    3,
    'Red. Alíquota IBS / Red. Alíquota CBS',
    slashed(percent(taxes.pRedAliqUF), percent(taxes.pRedAliqMun), percent(taxes.pRedAliqCBS)),
    30,
  ),
  field(4, 'Alíquota - IBS UF / IBS Mun', slashed(percent(taxes.pIBSUF), percent(taxes.pIBSMun)), 30),
];

const ibs = (taxes: Taxes): readonly Cell[] => [
  field(1, 'Alíq. Efetiva Municipal - IBS', percent(taxes.pAliqEfetMun), 10),
  amount(2, 'Valor Apurado Municipal - IBS', taxes.vIBSMun),
  field(3, 'Alíq. Efetiva Estadual - IBS', percent(taxes.pAliqEfetUF), 10),
  amount(4, 'Valor Apurado Estadual - IBS', taxes.vIBSUF),
];

const sums = (taxes: Taxes): readonly Cell[] => [
  amount(1, 'Valor Total Apurado - IBS', taxes.vIBSTot),
  field(2, 'Alíquota - CBS', percent(taxes.pCBS), 10),
  field(3, 'Alíquota Efetiva - CBS', percent(taxes.pAliqEfetCBS), 10),
  amount(4, 'Valor Total Apurado - CBS', taxes.vCBS),
];

/** Undefined in a note without IBS and CBS, which has no such base. */
const exclusions = ({ ibsCbs: taxes, totals, issqn, federal }: Note): string | undefined =>
  taxes === undefined
    ? undefined
    : sumOf(totals.vDescIncond, taxes.vCalcReeRepRes, issqn.vISSQN, federal.vPis, federal.vCofins);

/** Amount, deductions and net amounts of the note. */
export const totals = ({ totals: sums }: Note): Block => ({
  top: 20.9,
  end: 22.27,
  rows: [
    {
      top: 20.9,
      height: TOTALS_HEIGHT,
      cells: [
        titleCell('VALOR TOTAL DA NFS-E'),
        strongField(2, 'VALOR DA OPERAÇÃO / SERVIÇO', money(sums.vServ), AMOUNT_SIZE),
        amount(3, 'Desconto Incondicionado', sums.vDescIncond),
        amount(4, 'Desconto Condicionado', sums.vDescCond),
      ],
    },
    {
      top: 21.59,
      height: TOTALS_HEIGHT,
      cells: [
        amount(1, 'Total das Retenções (ISSQN / Federais)', sums.vTotalRet),
        strongField(2, 'VALOR LÍQUIDO DA NFS-e', money(sums.vLiq), AMOUNT_SIZE),
        amount(3, 'Total do IBS/CBS', sumOf(sums.vIBSTot, sums.vCBS)),
        strongField(4, 'VALOR LÍQUIDO DA NFS-e + IBS/CBS', money(sums.vTotNF), AMOUNT_SIZE, { shaded: true }),
      ],
    },
  ],
});

const TOTALS_HEIGHT = 0.67;

/** The UF of a 7-digit IBGE code; undefined for a code that IBGE does not know. */
const ufOf = (ibgeCode: Text): string | undefined =>
  ibgeCode === undefined ? undefined : municipalityByCode(ibgeCode)?.uf;
