import { unreachable } from '../../../domain/common/unreachable.js';
import { municipalityByCode } from '../../../tables/municipalities.js';
import { ABSENT, brazilianPhone, lengthOf, postalCode, shortened, slashed, streetOf, taxId } from '../format.js';
import { labelOf, opSimpNac, regApTribSN } from '../labels.js';
import type { Address, Note, Party } from '../note.js';
import { type Block, type Cell, field, type Row, row, titleCell } from './grid.js';

/** Provider, customer, recipient and intermediary, each with its fields or its replacement line (NT 008, 2.3). */
export const parties = (note: Note): readonly Block[] => [
  provider(note),
  partyBlock('TOMADOR / ADQUIRENTE', 'TOMADOR/ADQUIRENTE', note.customer, CUSTOMER),
  recipient(note),
  partyBlock('INTERMEDIÁRIO DA OPERAÇÃO', 'INTERMEDIÁRIO', note.intermediary, INTERMEDIARY),
];

/** Tops of a block's rows and of the block below it. */
type Tops = { rows: readonly [number, number, number]; end: number };

const PROVIDER: Tops = { rows: [4.34, 4.98, 5.62], end: 6.92 };
const CUSTOMER: Tops = { rows: [6.92, 7.56, 8.22], end: 8.86 };
const RECIPIENT: Tops = { rows: [8.86, 9.5, 10.16], end: 10.8 };
const INTERMEDIARY: Tops = { rows: [10.8, 11.44, 12.09], end: 12.74 };
const HEIGHT = 0.63;

// NT 008 has the assessment regime in column 3 (2.4.5, suggested) and in column 2 (Anexo I, mandatory by 2.2.4).
const provider = ({ provider: party }: Note): Block => ({
  top: PROVIDER.rows[0],
  end: PROVIDER.end,
  rows: [
    ...partyRows('PRESTADOR / FORNECEDOR', party, PROVIDER, [registration(party)]),
    row(6.28, HEIGHT, [
      field(1, 'Simples Nacional na Data de Competência', labelOf(opSimpNac, party.opSimpNac), 40),
      field(2, 'Regime de Apuração Tributária pelo SN', labelOf(regApTribSN, party.regApTribSN), 80, 2),
    ]),
  ],
});

const partyBlock = (title: string, role: string, party: Party | undefined, tops: Tops): Block =>
  party === undefined
    ? instead(`${role} DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e`, tops)
    : { top: tops.rows[0], end: tops.end, rows: partyRows(title, party, tops, [registration(party)]) };

const recipient = (note: Note): Block => {
  switch (note.recipient.kind) {
    case 'customer':
      return instead('O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO', RECIPIENT);
    case 'other':
      // A recipient has no municipal registration in the layout, and its place stays empty.
      return {
        top: RECIPIENT.rows[0],
        end: RECIPIENT.end,
        rows: partyRows('DESTINATÁRIO DA OPERAÇÃO', note.recipient.party, RECIPIENT, []),
      };
    case 'none':
      return instead('DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e', RECIPIENT);
    default:
      return unreachable(note.recipient);
  }
};

const instead = (text: string, { rows: [top], end }: Tops): Block => ({ top, end, rows: [], instead: text });

const registration = (party: Party): Cell => field(3, 'Indicador Municipal (Inscrição)', party.IM ?? ABSENT, 15);

const partyRows = (title: string, party: Party, { rows }: Tops, extraCells: readonly Cell[]): readonly Row[] => [
  row(rows[0], HEIGHT, [
    titleCell(title),
    field(2, 'CNPJ / CPF / NIF', party.taxId === undefined ? (party.NIF ?? ABSENT) : taxId(party.taxId), 40),
    ...extraCells,
    field(4, 'Telefone', phoneOf(party), 20),
  ]),
  row(rows[1], HEIGHT, [
    field(1, 'Nome / Nome Empresarial', party.xNome ?? ABSENT, 80, 2),
    field(3, 'Município / Sigla UF', municipality(party.address), PLACE_SIZE),
    field(4, 'Código IBGE / CEP', codes(party.address), 21),
  ]),
  row(rows[2], HEIGHT, [
    field(1, 'Endereço', streetOf(party.address) ?? ABSENT, 80, 2),
    field(3, 'E-mail', party.email ?? ABSENT, 80, 2),
  ]),
];

/** A number of another country may look like one of Brazil. The layout demands a CNPJ or CPF of each party of Brazil. */
const phoneOf = ({ taxId: id, address, fone }: Party): string =>
  id === undefined || address?.abroad !== undefined ? (fone ?? ABSENT) : brazilianPhone(fone);

const PLACE_SIZE = 37;

/** The characters that a country of two letters and two separators leave. */
const CITY_AND_STATE_SIZE = PLACE_SIZE - 2 - 2 * ' / '.length;

/** No other field shows the country, so city and state abroad are cut to leave room for the country. A long city is cut before a state. */
const cityAndState = (city: string = ABSENT, state: string = ABSENT): readonly string[] => {
  const leastOfState = Math.floor(CITY_AND_STATE_SIZE / 2);
  const shownState = shortened(state, Math.max(leastOfState, CITY_AND_STATE_SIZE - lengthOf(city)));
  return [shortened(city, CITY_AND_STATE_SIZE - lengthOf(shownState)), shownState];
};

const municipality = (address: Address | undefined): string => {
  const { abroad } = address ?? {};
  if (abroad !== undefined) return slashed(...cityAndState(abroad.xCidade, abroad.xEstProvReg), abroad.cPais);
  const found = address?.cMun === undefined ? undefined : municipalityByCode(address.cMun);
  return slashed(found?.name, found?.uf);
};

const codes = (address: Address | undefined): string =>
  address?.abroad === undefined
    ? slashed(address?.cMun, postalCode(address?.CEP))
    : slashed(undefined, address.abroad.cEndPost);
