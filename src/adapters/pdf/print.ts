import { buffer } from 'node:stream/consumers';
import type { TDocumentDefinitions } from 'pdfmake/interfaces.js';
import { openFonts } from './embedded-fonts.js';
import { FONT_FAMILY, FONT_FILES } from './fonts.js';
import { LayoutBuilder, PdfDocument, Renderer, SvgMeasure } from './pdfmake-parts.js';
import { joinRectangles } from './rectangles.js';
import { compressStreams } from './streams.js';
import { tagging } from './tags.js';

/** One page of pdfmake's content, whose text is set in `FONT_FAMILY`, and what the file says of itself. */
export type Page = Pick<TDocumentDefinitions, 'content' | 'background' | 'styles' | 'defaultStyle'> & {
  pageSize: { width: number; height: number };
  /** Left, top, right, bottom. */
  pageMargins: readonly [number, number, number, number];
  /** `creationDate` comes from the note: the clock has no part in the file. */
  info: { title: string; subject: string; creationDate: Date };
};

/** Pictures that the content may show, by name, as data URLs; and what stands for them where nobody sees. */
export type Pictures = { images: Readonly<Record<string, string>>; alt: string };

/**
 * The document as PDF/A-2b, tagged, in Portuguese; undefined when it needs more than one page. It does what `createPdf` of
 * pdfmake does, but with fonts that stay parsed. The same document gives the same bytes on every machine and at any time.
 */
export const printOnePage = async (page: Page, pictures: Pictures): Promise<Buffer | undefined> => {
  const families = { [FONT_FAMILY]: FONT_FILES };
  const document = new PdfDocument(families, pictures.images, {}, {}, options(page), null, isFont);
  compressStreams(document);
  openFonts(document);
  const { pageSize, content, styles = {}, background } = page;
  const [left, top, right, bottom] = page.pageMargins;
  const builder = new LayoutBuilder(
    { ...pageSize, orientation: 'portrait' },
    { left, top, right, bottom },
    new SvgMeasure(),
  );
  const [only, ...others] = builder.layoutDocument(
    content,
    document,
    styles,
    { font: FONT_FAMILY, ...page.defaultStyle },
    background,
  );
  if (only === undefined || others.length > 0) return undefined;
  only.items = joinRectangles(only.items);
  const renderer = new Renderer(document);
  const tags = tagging(renderer, document, pictures.alt);
  renderer.renderPages([only]);
  tags.finish();
  document.end();
  return await buffer(document);
};

const options = ({ pageSize, info }: Page): object => ({
  size: [pageSize.width, pageSize.height],
  pdfVersion: '1.7',
  subset: 'PDF/A-2b',
  tagged: true,
  displayTitle: true,
  lang: 'pt-BR',
  compress: false,
  fontLayoutCache: false,
  autoFirstPage: false,
  font: null,
  info: {
    Producer: 'pdfmake',
    Creator: 'pdfmake',
    Title: inXml(info.title),
    Subject: inXml(info.subject),
    CreationDate: info.creationDate,
  },
});

/** pdfkit puts the title into XML as it is, and part of it comes from a note. */
const inXml = (text: string): string => text.replace(/[<>&\p{Cc}]/gu, ' ');

// A note's text must never make the printer read a file: only the two fonts are opened.
const isFont = (path: string): boolean => path === FONT_FILES.normal || path === FONT_FILES.bold;
