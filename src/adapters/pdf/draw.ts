import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import pdfmake from 'pdfmake';
import type { TDocumentDefinitions } from 'pdfmake/interfaces.js';
import type { PdfMarks } from '../../ports/pdf.js';
import { danfseDocument } from './document.js';
import type { Note } from './note.js';

/** The bytes of the DANFSe, always one page: the long texts give way when wide letters would need a second one. */
export const drawDanfse = async (note: Note, marks: PdfMarks): Promise<Buffer> => {
  for (const share of SHARES) {
    const drawn = await draw(danfseDocument(note, marks, share));
    if (drawn.pages === 1) return drawn.bytes;
  }
  throw new Error('the document does not fit on one page');
};

const SHARES = [1, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2];

const draw = async (document: TDocumentDefinitions): Promise<{ bytes: Buffer; pages: number }> => {
  let pages = 0;
  const bytes = await pdfmake
    .createPdf({
      ...document,
      images: { logo: LOGO },
      footer: (_page, count) => {
        pages = count;
        return undefined;
      },
    })
    .getBuffer();
  return { bytes, pages };
};

const require = createRequire(import.meta.url);

const fontFile = (name: string): string => require.resolve(`pdfmake/fonts/Roboto/${name}`);

const FONTS = { normal: fontFile('Roboto-Regular.ttf'), bold: fontFile('Roboto-Medium.ttf') };

const LOGO = `data:image/png;base64,${readFileSync(fileURLToPath(new URL('./logo-nfse.png', import.meta.url))).toString('base64')}`;

pdfmake.setFonts({ Roboto: FONTS });
// Text of a note must never make the renderer fetch or read anything; only the two font files are opened.
pdfmake.setUrlAccessPolicy(() => false);
pdfmake.setLocalAccessPolicy((path) => path === FONTS.normal || path === FONTS.bold);
