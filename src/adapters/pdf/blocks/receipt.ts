import { shortened } from '../format.js';
import type { Note } from '../note.js';
import { CONTENT, INSET } from '../page.js';
import type { PlacedText, Rule, Sheet } from '../sheet.js';
import { LABEL_GAP, oneParagraph, paragraph, TEXT, TITLE } from './grid.js';

/** Where the canhoto begins, in centimetres (NT 008, 2.4.5). */
export const RECEIPT_TOP = 28.1;

/** The canhoto, to be signed by who received the service (NT 008, 2.1.13; optional by note 11). */
export const receipt = (note: Note): Sheet => ({
  fills: [],
  rules: [
    ...[RECEIPT_TOP, BOTTOM].map((y): Rule => ({ x1: CONTENT.left, y1: y, x2: CONTENT.right, y2: y })),
    ...[CONTENT.left, 5.41, 10.51, CONTENT.right].map((x): Rule => ({ x1: x, y1: RECEIPT_TOP, x2: x, y2: BOTTOM })),
  ],
  texts: [
    label('DATA CIENTIFICAÇÃO:', CONTENT.left),
    label('IDENTIFICAÇÃO E ASSINATURA', 5.41),
    label('Nº NFS-e / CHAVE NFS-e', 10.51),
    ...paragraph([`${shownNumber(note)} / ${note.accessKey}`], { left: 10.51 + INSET, top: RECEIPT_TOP + 0.31 }, TEXT),
  ],
});

/** 13 digits, of the 66 characters of number and key. */
const shownNumber = ({ nNFSe }: Note): string => shortened(oneParagraph(nNFSe), 13);

const BOTTOM = RECEIPT_TOP + 0.67;

const label = (text: string, left: number): PlacedText => ({
  left: left + INSET,
  top: RECEIPT_TOP + LABEL_GAP,
  text,
  style: TITLE,
});
