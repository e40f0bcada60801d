import type { PdfMarks } from '../../ports/pdf.js';
import { arranged } from './arrange.js';
import { pageContent } from './content.js';
import { shortened } from './format.js';
import { diagonals } from './marks.js';
import type { Note } from './note.js';
import { PAGE } from './page.js';
import type { Page } from './print.js';

/**
 * The DANFSe of NT 008 (blocks and order of Anexo I) as a page for pdfmake. Nothing in it depends on the clock or on
 * chance.
 */
export const danfseDocument = (note: Note, marks: PdfMarks): Page => ({
  pageSize: PAGE,
  pageMargins: [0, 0, 0, 0],
  info: {
    title: `DANFSe da NFS-e ${shortened(note.nNFSe, 13)}`,
    subject: 'Documento Auxiliar da NFS-e',
    creationDate: new Date(note.dhProc),
  },
  defaultStyle: { fontSize: 7, color: '#000000' },
  content: pageContent(arranged(note, marks.simulated), diagonals(marks), note.accessKey),
});
