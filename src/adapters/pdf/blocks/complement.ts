import { unreachable } from '../../../domain/common/unreachable.js';
import { ABSENT, day, lengthOf, listed, money, percent, postalCode, shortened, streetOf } from '../format.js';
import type { Address, ApproximateTaxes, Complement, Note } from '../note.js';
import { CONTENT, centimetres, INSET, type Layout, type Rule, type TextLine } from '../page.js';
import { cutToLines, lineHeight, wrapped } from '../text-width.js';
import { LABEL_GAP, oneParagraph, paragraph, roomIn, TEXT, TITLE } from './grid.js';

/**
 * The complementary information in the order of NT 008, 2.4.5, at most `size` characters; empty when the note has none. The free text of the issuer is
 * cut first and the list of items next, so that they displace no other part that 2.1.12 demands. The text of the municipality comes last, as the table
 * has it, and is cut where these two do not suffice.
 */
export const complementText = (written: Complement, size: number): string => {
  const free = labelled('Inf. Cont.', written.xInfComp);
  const items = labelled('Item Ped.', written.xItemPed.join(', ') || undefined);
  const joined = (shownFree: string | undefined, shownItems: string | undefined): string =>
    joinParts(
      shownFree,
      labelled('NFS-e Subst.', written.chSubstda),
      labelled('Doc. Ref.', written.docRef),
      labelled('Cod. Obra', listed(written.cObra, cib(written.cCIBObra), siteOf(written.addresses.obra))),
      labelled('Insc. Imob.', listed(written.inscImobFisc, cib(written.cCIBImovel), siteOf(written.addresses.imovel))),
      labelled('Cod. Evt.', eventOf(written)),
      labelled('Doc. Tec.', written.idDocTec),
      labelled('Núm. Ped.', written.xPed),
      shownItems,
      labelled('Inf. A. T. Mun.', written.xOutInf),
    );
  const shownFree = shortenedBy(free, lengthOf(joined(free, items)) - size);
  const shownItems = shortenedBy(items, lengthOf(joined(shownFree, items)) - size);
  return shortened(joined(shownFree, shownItems), size);
};

const SEPARATOR = ' | ';

/** Without the last `excess` characters, but never with fewer than `LEAST_SHOWN`. */
const shortenedBy = (text: string | undefined, excess: number): string | undefined =>
  text === undefined || excess <= 0 ? text : shortened(text, Math.max(LEAST_SHOWN, lengthOf(text) - excess));

/** Characters of a cut part that are always shown. */
const LEAST_SHOWN = 40;

const cib = (code: string | undefined): string | undefined => (code === undefined ? undefined : `CIB ${code}`);

/** The event with all that its block holds: 2.1.12 and Anexo I demand the block, note 9 its code alone. */
const eventOf = ({ idAtvEvt, xNomeEvt, dtIni, dtFim, addresses }: Complement): string | undefined => {
  const days = Array.from(new Set([dtIni, dtFim].filter((date) => date !== undefined)), day);
  return listed(idAtvEvt, xNomeEvt, days.join(' a ') || undefined, siteOf(addresses.atvEvento));
};

const siteOf = (address: Address | undefined): string | undefined =>
  listed(
    streetOf(address),
    address?.abroad?.xCidade,
    address?.abroad?.xEstProvReg,
    address?.abroad?.cEndPost,
    address?.CEP === undefined ? undefined : `CEP ${postalCode(address.CEP)}`,
  );

/** The line of Lei 12.741/2012, which every note has (NT 008, 2.4.5, note 10). */
export const approximateTaxes = (taxes: ApproximateTaxes): string => {
  switch (taxes.kind) {
    case 'amounts':
      return taxLine(money(taxes.federal), money(taxes.state), money(taxes.municipal));
    case 'percentages':
      return taxLine(percent(taxes.federal), percent(taxes.state), percent(taxes.municipal));
    case 'simples':
      return `${taxLine(ABSENT, ABSENT, ABSENT)}; Simples Nacional: ${percent(taxes.pTotTribSN)}`;
    case 'none':
      return taxLine(ABSENT, ABSENT, ABSENT);
    default:
      return unreachable(taxes);
  }
};

const joinParts = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined && part !== '').join(SEPARATOR);

const labelled = (name: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${name}: ${value}`;

const taxLine = (federal: string, state: string, municipal: string): string =>
  `Totais Aproximados dos Tributos cfe. Lei nº 12.741/2012: Federais: ${federal}; Estaduais: ${state}; Municipais: ${municipal}`;

/** Where the canhoto begins, in centimetres (NT 008, 2.4.5). */
export const RECEIPT_TOP = 28.1;

/** The canhoto, which the recipient of the service signs (NT 008, 2.1.13; optional by note 11). */
export const receipt = (note: Note): Layout => ({
  fills: [],
  rules: [
    ...ROWS.map((y): Rule => ({ x1: CONTENT.left, y1: y, x2: CONTENT.right, y2: y })),
    ...COLUMNS.map((x): Rule => ({ x1: x, y1: RECEIPT_TOP, x2: x, y2: BOTTOM })),
  ],
  texts: [
    label('DATA CIENTIFICAÇÃO:', CONTENT.left),
    label('IDENTIFICAÇÃO E ASSINATURA', 5.41),
    label('Nº NFS-e / CHAVE NFS-e', 10.51),
    ...paragraph([`${shownNumber(note)} / ${note.accessKey}`], { left: 10.51 + INSET, top: RECEIPT_TOP + 0.31 }, TEXT),
  ],
});

/** 13 characters: the field has 66 for number, separator and access key. */
const shownNumber = ({ nNFSe }: Note): string => shortened(oneParagraph(nNFSe), 13);

const BOTTOM = RECEIPT_TOP + 0.67;
const ROWS = [RECEIPT_TOP, BOTTOM];
const COLUMNS = [CONTENT.left, 5.41, 10.51, CONTENT.right];

const label = (text: string, left: number): TextLine => ({
  left: left + INSET,
  top: RECEIPT_TOP + LABEL_GAP,
  text,
  style: TITLE,
});

/** Centimetres from one line of a text to the next. */
export const LINE = centimetres(lineHeight(TEXT));

/** The lines of a text at the page's width, cut to `size` characters. Its line breaks become spaces. */
export const linesOf = (text: string, size: number): readonly string[] =>
  wrapped(shortened(oneParagraph(text), size), WIDTH, TEXT);

/** The lines of one text in four arrangements, the one that is read best first, the one of the fewest lines last. */
type Arrangements = {
  /** With the line breaks of the text and one empty line between paragraphs; undefined for a text without empty lines. */
  spaced: (() => readonly string[]) | undefined;
  /** With the line breaks of the text, without empty lines; undefined for a text without line breaks. */
  broken: (() => readonly string[]) | undefined;
  /** With a wide gap instead of each line break; undefined for a text without line breaks. */
  spread: (() => readonly string[]) | undefined;
  running(): readonly string[];
};

/** The arrangements of a text at the page's width, cut to `size` characters. */
export const arrangementsOf = (text: string, size: number): Arrangements => {
  const paragraphs = text
    .split(/\r?\n|\r/)
    .map(oneParagraph)
    .join('\n')
    .trim();
  const shown = shortened(paragraphs.replace(/\n{3,}/g, '\n\n'), size);
  const linesWith = (separator: string) => wrapped(shown.replace(/\n+/g, separator), WIDTH, TEXT);
  return {
    spaced: shown.includes('\n\n') ? () => wrapped(shown, WIDTH, TEXT) : undefined,
    broken: shown.includes('\n') ? () => linesWith('\n') : undefined,
    spread: shown.includes('\n') ? () => linesWith(GAP).map(withoutOuterGap) : undefined,
    running: () => linesWith(' '),
  };
};

/** Some four millimetres: where an item of a list ends can be seen, and no character is added that the XML does not hold. */
const GAP = ` ${'\u00A0'.repeat(5)} `;

/** A gap at a line break does not count; the space that says that the text continues stays. */
const withoutOuterGap = (line: string): string => line.trimStart().replace(/\s+$/, ' ');

/** At most `count` of the lines; the last one ends in `...` when lines were left out. */
export const cutLongText = (lines: readonly string[], count: number): readonly string[] =>
  cutToLines(lines, count, WIDTH, TEXT);

/** The lines below each other, from `top` on. An empty line takes its room and is no text: a screen reader would stop at an empty paragraph. */
export const layOutLines = (lines: readonly string[], top: number): readonly TextLine[] =>
  paragraph(lines, { left: CONTENT.left + INSET, top }, TEXT).filter(({ text }) => text !== '');

const WIDTH = roomIn(CONTENT.width);
