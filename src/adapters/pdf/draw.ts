import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PdfMarks } from '../../ports/pdf.js';
import { danfseDocument } from './document.js';
import type { Note } from './note.js';
import { printOnePage } from './print.js';

/** The bytes of the DANFSe, one page; the same note and marks give the same bytes. */
export const drawDanfse = async (note: Note, marks: PdfMarks): Promise<Buffer> => {
  const printed = await printOnePage(danfseDocument(note, marks), PICTURES);
  if (printed === undefined) throw new Error('the document does not fit on one page');
  return printed;
};

const LOGO = readFileSync(fileURLToPath(new URL('./logo-nfse.png', import.meta.url)));

const PICTURES = {
  images: { logo: `data:image/png;base64,${LOGO.toString('base64')}` },
  alt: 'NFS-e, Nota Fiscal de Serviço eletrônica',
};
