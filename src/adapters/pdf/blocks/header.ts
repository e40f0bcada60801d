import type { TextStyle } from '../fonts.js';
import { ABSENT, shortened } from '../format.js';
import { ambGer, labelOf, tpAmb } from '../labels.js';
import type { Note } from '../note.js';
import { CONTENT, INSET } from '../page.js';
import { centered, type PlacedText, type Sheet } from '../sheet.js';
import { cutToLines, wrapped } from '../wrapping.js';
import { oneParagraph, paragraph, roomIn } from './grid.js';

/** Title with the warnings of notes that are worth nothing, and who issued where (NT 008, 2.4.3). */
export const header = (note: Note, simulated: boolean): Sheet => ({
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

const titles = (note: Note): PlacedText[] =>
  [
    { text: 'DANFSe v2.0', style: HEADING },
    { text: 'Documento Auxiliar da NFS-e', style: HEADING },
    ...(note.tpAmb === '1' ? [] : [{ text: 'NFS-e SEM VALIDADE JURÍDICA', style: { ...HEADING, color: RED } }]),
  ].map(({ text, style }, index) => centered(text, { ...MIDDLE, top: TOP + index * 0.37 }, style));

/** Beside the label of the access key: the header has no room for a fourth line. */
const simulatorWarning: PlacedText = {
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

/** One line, whatever code another issuer wrote. */
const environment = (text: string, top: number): PlacedText[] => {
  const width = roomIn(PLACE.width);
  const lines = wrapped(oneParagraph(text), width, ENVIRONMENT_STYLE);
  return paragraph(
    cutToLines(lines, 1, width, ENVIRONMENT_STYLE),
    { left: PLACE.left + INSET, top },
    ENVIRONMENT_STYLE,
  );
};
