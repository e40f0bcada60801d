import type { ContentTable } from 'pdfmake/interfaces.js';
import { unreachable } from '../../../domain/shared/unreachable.js';
import { ABSENT, phone, postalCode, slashed, taxId } from '../format.js';
import { labelOf, opSimpNac, regApTribSN } from '../labels.js';
import type { Address, Note, Party } from '../note.js';
import { placeOf } from '../places.js';
import { block, type Cell, cell, field, replacementLine, titleCell } from './grid.js';

/** Provider, customer, recipient and intermediary, each with its fields or its replacement line (NT 008, 2.3). */
export const parties = (note: Note): readonly ContentTable[] => [
  provider(note),
  party('TOMADOR / ADQUIRENTE', 'TOMADOR/ADQUIRENTE', note.customer),
  recipient(note),
  party('INTERMEDIÁRIO DA OPERAÇÃO', 'INTERMEDIÁRIO', note.intermediary),
];

const provider = ({ provider: who }: Note): ContentTable =>
  block(...partyRows('PRESTADOR / FORNECEDOR', who), [
    field('Simples Nacional na Data de Competência', labelOf(opSimpNac, who.opSimpNac), 40, 2),
    field('Regime de Apuração Tributária pelo SN', labelOf(regApTribSN, who.regApTribSN), 80, 2),
  ]);

const party = (title: string, role: string, who: Party | undefined): ContentTable =>
  who === undefined
    ? replacementLine(`${role} DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e`)
    : block(...partyRows(title, who));

const recipient = (note: Note): ContentTable => {
  switch (note.recipient.kind) {
    case 'customer':
      return replacementLine('O DESTINATÁRIO É O PRÓPRIO TOMADOR/ADQUIRENTE DA OPERAÇÃO');
    case 'other':
      return block(...partyRows('DESTINATÁRIO DA OPERAÇÃO', note.recipient.party, noRegistration));
    case 'none':
      return replacementLine('DESTINATÁRIO DA OPERAÇÃO NÃO IDENTIFICADO NA NFS-e');
    default:
      return unreachable(note.recipient);
  }
};

/** A recipient has no municipal registration in the layout, and its place stays empty. */
const noRegistration = cell([]);

const registration = (who: Party): Cell => field('Indicador Municipal (Inscrição)', who.IM ?? ABSENT, 15);

const partyRows = (title: string, who: Party, second = registration(who)): readonly (readonly Cell[])[] => [
  [titleCell(title), field('CNPJ / CPF / NIF', taxId(who.taxId), 40), second, field('Telefone', phone(who.fone), 20)],
  [
    field('Nome / Nome Empresarial', who.xNome ?? ABSENT, 80, 2),
    field('Município / Sigla UF', municipality(who.address), 37),
    field('Código IBGE / CEP', codes(who.address), 21),
  ],
  [field('Endereço', street(who.address), 80, 2), field('E-mail', who.email ?? ABSENT, 80, 2)],
];

const municipality = (address: Address | undefined): string => {
  const { abroad } = address ?? {};
  if (abroad !== undefined) return slashed(abroad.xCidade, abroad.xEstProvReg, abroad.cPais);
  const place = placeOf(address?.cMun);
  return slashed(place?.name, place?.uf);
};

const codes = (address: Address | undefined): string =>
  address?.abroad === undefined
    ? slashed(address?.cMun, postalCode(address?.CEP))
    : slashed(undefined, address.abroad.cEndPost);

const street = (address: Address | undefined): string =>
  [address?.xLgr, address?.nro, address?.xCpl, address?.xBairro].filter((part) => part !== undefined).join(', ') ||
  ABSENT;
