import type { TDocumentDefinitions } from 'pdfmake/interfaces.js';
import type { PdfMarks } from '../../ports/pdf.js';
import { complement } from './blocks/complement.js';
import { federal } from './blocks/federal.js';
import { CONTENT_WIDTH } from './blocks/grid.js';
import { header } from './blocks/header.js';
import { ibsCbs } from './blocks/ibs-cbs.js';
import { identification } from './blocks/identification.js';
import { issqn } from './blocks/issqn.js';
import { parties } from './blocks/parties.js';
import { service } from './blocks/service.js';
import { totals } from './blocks/totals.js';
import { border, diagonals, PAGE } from './marks.js';
import type { Note } from './note.js';

/**
 * The DANFSe of NT 008 (blocks and order of Anexo I) as a document of pdfmake. `share` of 0 to 1 of the two long texts
 * is shown, so that one page is always enough. Nothing in it depends on the clock or on chance.
 */
export const danfseDocument = (note: Note, marks: PdfMarks, share: number): TDocumentDefinitions => ({
  // Transparency needs PDF 1.4 or later.
  version: '1.7',
  pageSize: { width: PAGE.width, height: PAGE.height },
  pageMargins: [SIDE, 8, SIDE, 8],
  language: 'pt-BR',
  displayTitle: true,
  info: {
    title: `DANFSe da NFS-e ${note.nNFSe}`,
    subject: 'Documento Auxiliar da NFS-e',
    creationDate: new Date(note.dhProc),
  },
  defaultStyle: { font: 'Roboto', fontSize: 7, color: '#000000', lineHeight: 1 },
  styles: {
    heading: { fontSize: 9, bold: true, alignment: 'center' },
    title: { fontSize: 7, bold: true },
    label: { fontSize: 6, bold: true },
  },
  background: () => border(),
  content: [
    header(note, marks.simulated),
    identification(note),
    ...parties(note),
    service(note, share),
    issqn(note),
    federal(note),
    ...(note.ibsCbs === undefined ? [] : [ibsCbs(note, note.ibsCbs)]),
    totals(note),
    complement(note, share),
    diagonals(marks),
  ],
});

const SIDE = (PAGE.width - CONTENT_WIDTH) / 2;
