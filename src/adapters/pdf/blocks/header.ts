import { ABSENT, day, dayAndTime, shortened } from '../format.js';
import { ambGer, cStat, finNFSe, labelOf, tpAmb, tpEmit } from '../labels.js';
import type { Note } from '../note.js';
import { CONTENT, centered, INSET, type Layout, type TextLine } from '../page.js';
import { cutToLines, type TextStyle, wrapped } from '../text-width.js';
import { type Block, oneParagraph, paragraph, roomIn, row, strongField } from './grid.js';

/** Title, warnings on notes without legal value, municipality and environment (NT 008, 2.4.3). */
export const header = (note: Note, simulated: boolean): Layout => ({
  fills: [{ left: CONTENT.left, top: TOP, width: CONTENT.width, height: 1.16 }],
  rules: [],
  texts: [
    ...titles(note),
    ...(simulated ? [simulatorWarning] : []),
    ...paragraph(municipality(note), { left: PLACE.left + INSET, top: TOP }, PLACE_STYLE),
    ...environment(`Ambiente Gerador: ${labelOf(ambGer, note.ambGer)}`, 0.97),
    ...environment(`Tipo de Ambiente: ${labelOf(tpAmb, note.tpAmb)}`, 1.22),
  ],
});

/** Centimetres; the logo is 4.00 wide (NT 008, 2.4.5). */
export const LOGO = { left: 0.49, top: 0.44, width: 4 };

const TOP = 0.3;
const PLACE = { left: 15.62, width: 5.09 };
const PLACE_STYLE: TextStyle = { size: 8 };
const ENVIRONMENT_STYLE: TextStyle = { size: 6 };
const HEADING: TextStyle = { size: 9, bold: true };
const RED = '#FF0000';
const MIDDLE = { left: 5.41, width: 10.19 };

const titles = (note: Note): TextLine[] =>
  [
    { text: 'DANFSe v2.0', style: HEADING },
    { text: 'Documento Auxiliar da NFS-e', style: HEADING },
    ...(note.tpAmb === '1' ? [] : [{ text: 'NFS-e SEM VALIDADE JURÍDICA', style: { ...HEADING, color: RED } }]),
  ].map(({ text, style }, index) => centered(text, { ...MIDDLE, top: TOP + index * 0.37 }, style));

/** Beside the label of the access key, because the header has no room for a fourth line. */
const simulatorWarning: TextLine = {
  left: MIDDLE.left + INSET,
  top: 1.57,
  text: 'Gerado por um SIMULADOR: este documento não é documento fiscal',
  style: { size: 7, bold: true, color: RED },
};

/** Not shown for item 99 of the national codes (NT 008, 2.4.5); two lines at most. */
const municipality = (note: Note): readonly string[] => {
  if (note.service.cTribNac?.startsWith('99')) return [];
  const name = shortened(oneParagraph(`${note.xLocEmi ?? ABSENT} - ${note.UF ?? ABSENT}`), 37);
  const width = roomIn(PLACE.width);
  return cutToLines(wrapped(`Município: ${name}`, width, PLACE_STYLE), 2, width, PLACE_STYLE);
};

/** Cut to one line, because a note of another issuer may hold a code of any length. */
const environment = (text: string, top: number): TextLine[] => {
  const width = roomIn(PLACE.width);
  const lines = wrapped(oneParagraph(text), width, ENVIRONMENT_STYLE);
  return paragraph(
    cutToLines(lines, 1, width, ENVIRONMENT_STYLE),
    { left: PLACE.left + INSET, top },
    ENVIRONMENT_STYLE,
  );
};

/** URL of the public look-up of a note, which the QR code holds (NT 008, 2.4.3). */
export const consultationUrl = (accessKey: string): string =>
  `https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=${accessKey}`;

/** Keys, numbers and dates of the note, left of the QR code. */
export const identification = (note: Note): Block => ({
  top: 1.48,
  end: 4.34,
  rows: [
    // The box of the access key begins at 1.48 and is higher than the others; Anexo I has the text in its lower part.
    row(1.55, 0.7, [strongField(1, 'CHAVE DE ACESSO DA NFS-E', note.accessKey, 50, { span: 3 })]),
    row(2.27, HEIGHT, [
      strongField(1, 'NÚMERO DA NFS-E', note.nNFSe, 13),
      strongField(2, 'COMPETÊNCIA DA NFS-E', day(note.dCompet), 10),
      strongField(3, 'DATA E HORA DA EMISSÃO DA NFS-E', dayAndTime(note.dhProc), 19),
    ]),
    row(2.96, HEIGHT, [
      strongField(1, 'NÚMERO DA DPS', note.nDPS ?? ABSENT, 15),
      strongField(2, 'SÉRIE DA DPS', note.serie ?? ABSENT, 5),
      strongField(3, 'DATA E HORA DA EMISSÃO DA DPS', dayAndTime(note.dhEmi), 19),
    ]),
    row(3.65, HEIGHT, [
      strongField(1, 'EMITENTE DA NFS-e', labelOf(tpEmit, note.tpEmit), 13, { shaded: true }),
      strongField(2, 'SITUAÇÃO DA NFS-e', labelOf(cStat, note.cStat), 40),
      strongField(3, 'FINALIDADE', labelOf(finNFSe, note.finNFSe), 40),
    ]),
  ],
});

const HEIGHT = 0.67;

/** Centimetres (NT 008, 2.4.3). */
export const QR = { left: 17.48, top: 1.67 };

/** The text below the QR code, in the three lines of NT 008. */
export const qrCaption = (): TextLine[] =>
  paragraph(
    [
      'A autenticidade desta NFS-e pode ser verificada ',
      'pela leitura deste código QR ou pela consulta da ',
      'chave de acesso no portal nacional da NFS-e',
    ],
    { left: 15.8, top: 3.36 },
    { size: 6 },
  );
