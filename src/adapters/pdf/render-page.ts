import { LRUCache } from 'lru-cache';
import type { Content, Style } from 'pdfmake/interfaces.js';
import { compressStreams, joinObjects } from './file-bytes.js';
import {
  type EmbeddedFont,
  type EmbeddedFontClass,
  type GlyphSubset,
  LayoutBuilder,
  type PageItem,
  type ParsedFont,
  PdfDocument,
  Renderer,
  type Run,
  type StructureContent,
  SvgMeasure,
} from './pdfmake-parts.js';
import { FONT_FAMILY, FONT_FILES } from './text-width.js';

/** One page of pdfmake content without margins, set in `FONT_FAMILY`, with the metadata of the file. */
export type Page = {
  pageSize: { width: number; height: number };
  content: Content[];
  defaultStyle: Style;
  /** `creationDate` comes from the note, never from the clock. */
  info: { title: string; subject: string; creationDate: Date };
};

/** Images of the content by name, as data URLs; `alt` is the text that a screen reader reads instead. */
type Images = { images: Readonly<Record<string, string>>; alt: string };

/**
 * Renders a page as tagged PDF/A-2b in Portuguese; undefined when it needs more than one page. This does what pdfmake's `createPdf` does, but with
 * fonts that stay parsed. The same page gives the same bytes on every machine and at any time.
 */
export const renderOnePage = async (page: Page, pictures: Images): Promise<Buffer | undefined> => {
  const families = { [FONT_FAMILY]: FONT_FILES };
  const document = new PdfDocument(families, pictures.images, {}, {}, options(page), null, isFont);
  compressStreams(document, isUsualFont);
  const finished = joinObjects(document);
  openFonts(document);
  await openPictures(document, pictures.images);
  const builder = new LayoutBuilder({ ...page.pageSize, orientation: 'portrait' }, NO_MARGINS, new SvgMeasure());
  const style = { font: FONT_FAMILY, ...page.defaultStyle };
  const [only, ...others] = builder.layoutDocument(page.content, document, {}, style);
  if (only === undefined || others.length > 0) return undefined;
  only.items = joinRectangles(only.items);
  const renderer = new Renderer(document);
  const tags = tagging(renderer, document, pictures.alt);
  renderer.renderPages([only]);
  tags.finish();
  document.end();
  return finished();
};

const NO_MARGINS = { left: 0, top: 0, right: 0, bottom: 0 };

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

/** pdfkit writes the title into XML without escaping, and part of the title comes from a note. */
const inXml = (text: string): string => text.replace(/[<>&\p{Cc}]/gu, ' ');

// The text of a note must never make pdfmake read a file, so only the two fonts may be opened.
const isFont = (path: string): boolean => path === FONT_FILES.normal || path === FONT_FILES.bold;

/** Gives a document both fonts, already parsed. Every PDF embeds the usual glyphs, and further ones that it uses. */
const openFonts = (document: PdfDocument): void => {
  for (const font of fonts) {
    const embedded = new Embedded(document, font.parsed, font.id);
    embedded.layoutRun = font.run;
    embedded.subset = font.subset();
    embedded.widths = [...font.usual.widths];
    embedded.unicode = [...font.usual.unicode];
    document._fontFamilies[font.path] = embedded;
  }
};

type SharedFont = {
  path: string;
  id: string;
  parsed: ParsedFont;
  run: EmbeddedFont['layoutRun'];
  usual: UsualGlyphs;
  /** For one document. */
  subset(): GlyphSubset;
};

/** The glyphs of `USUAL` by their place in the subset, and the font file that holds them. */
type UsualGlyphs = Pick<EmbeddedFont, 'widths' | 'unicode'> & { places: ReadonlyMap<number, number>; file: Uint8Array };

const sharedFont = (path: string, id: string): SharedFont => {
  // pdfkit opens a font only inside a document.
  const first = emptyDocument().font(path)._font;
  const parsed = first.font;
  // A glyph keeps the code point that it was first made for, and text copied from the PDF has that code point. Making all glyphs here, in the
  // font's order, keeps the PDF independent of the notes that this thread rendered before.
  for (const codePoint of parsed.characterSet) parsed.glyphForCodePoint(codePoint);
  const known = new LRUCache<string, Run>({ max: WORDS_KEPT });
  const run = (text: string, features?: object): Run => {
    const key = features === undefined || features === null ? text : `${JSON.stringify(features)}|${text}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const { glyphs, positions, advanceWidth } = first.layoutRun(withGlyphs(text, parsed), features);
    const shaped = { glyphs, positions, advanceWidth };
    if (mayBeKept(text)) known.set(key, shaped);
    return shaped;
  };
  const usual = usualGlyphs(first, parsed);
  return { path, id, parsed, run, usual, subset: () => subsetOf(parsed, usual) };
};

const charactersFrom = (first: number, last: number): readonly string[] =>
  Array.from({ length: last + 1 - first }, (_, index) => String.fromCodePoint(first + index));

/** Portuguese texts consist of these: printable ASCII and Latin-1, ligatures, quotation marks, dashes, ellipsis and the Euro sign. */
const USUAL = [...charactersFrom(0x20, 0x7e), ...charactersFrom(0xa0, 0xff), 'fi', 'fl', ...'–—‘’“”•…€□'];

const usualGlyphs = (opened: EmbeddedFont, parsed: ParsedFont): UsualGlyphs => {
  const places = new Map<number, number>();
  const { subset } = opened;
  opened.subset = {
    encode: () => subset.encode(),
    includeGlyph: (glyph) => {
      const place = subset.includeGlyph(glyph);
      places.set(glyph, place);
      return place;
    },
  };
  for (const text of USUAL) opened.encode(withGlyphs(text, parsed));
  return { places, file: subset.encode(), widths: opened.widths, unicode: opened.unicode };
};

/** Writing a font file takes most of the time of a page, so documents with usual glyphs alone share one. Others get a file for them alone. */
const subsetOf = (parsed: ParsedFont, { places, file }: UsualGlyphs): GlyphSubset => {
  let further: GlyphSubset | undefined;
  const beginFurther = (): GlyphSubset => {
    const subset = parsed.createSubset();
    for (const glyph of places.keys()) subset.includeGlyph(glyph);
    return subset;
  };
  return {
    includeGlyph: (glyph) => {
      const place = places.get(glyph);
      if (place !== undefined) return place;
      further ??= beginFurther();
      return further.includeGlyph(glyph);
    },
    encode: () => further?.encode() ?? file,
  };
};

/**
 * Labels and common words repeat, and 256 places hold those of a page; some 30 words of each page do not repeat. The collector goes through each kept
 * word again and again: with 4,096 the heap of a thread under load grew to twice its size.
 */
const WORDS_KEPT = 512;

const LONGEST_NUMBER_KEPT = 8;

/** A CPF, a CNPJ or an access key does not come again on other pages, and a test invoice must leave none behind (ADR 25). */
export const mayBeKept = (word: string): boolean => word.replaceAll(/\D/g, '').length <= LONGEST_NUMBER_KEPT;

/**
 * Replaces characters that the font lacks: white space by a space, invisible characters by nothing, all others by an empty box. PDF/A-2 forbids the
 * glyph `.notdef`.
 */
const withGlyphs = (text: string, font: ParsedFont): string =>
  Array.from(text, (character) => {
    if (font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0)) return character;
    if (/\s/.test(character)) return ' ';
    return /\p{Default_Ignorable_Code_Point}|\p{Cc}/u.test(character) ? '' : EMPTY_BOX;
  }).join('');

const EMPTY_BOX = '□';

const emptyDocument = (): PdfDocument =>
  new PdfDocument({}, {}, {}, {}, { font: null, autoFirstPage: false, fontLayoutCache: false }, null, () => false);

const fonts: readonly SharedFont[] = [sharedFont(FONT_FILES.normal, 'F1'), sharedFont(FONT_FILES.bold, 'F2')];

const isUsualFont = (stream: Buffer): boolean => fonts.some(({ usual }) => stream.equals(usual.file));

/** pdfkit does not export this class. */
const Embedded = emptyDocument().font(FONT_FILES.normal)._font.constructor as EmbeddedFontClass;

/** pdfkit decodes a picture with a palette again for each document to find its transparency; here each thread decodes a picture once. */
const openPictures = async (document: PdfDocument, images: Images['images']): Promise<void> => {
  for (const [name, url] of Object.entries(images)) {
    const known = transparencies.get(url) ?? transparencyOf(url);
    transparencies.set(url, known);
    const alphaChannel = await known;
    const picture = document.openImage(url);
    picture.loadIndexedAlphaChannel = () => {
      picture.alphaChannel = alphaChannel;
      picture.finalize();
    };
    document._imageRegistry[name] = picture;
  }
};

/** By data URL. The pictures are files of the product, so there are few. */
const transparencies = new Map<string, Promise<Buffer | undefined>>();

const transparencyOf = (url: string): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    const document = emptyDocument();
    const picture = document.openImage(url);
    picture.finalize = () => resolve(picture.alphaChannel);
    picture.embed(document);
  });

/**
 * The same items, with neighbouring filled rectangles of one colour joined into one shape. A QR code has some thousand rectangles; drawn one by one
 * they would take half of the time and leave hairlines between the modules.
 */
const joinRectangles = (items: readonly PageItem[]): readonly PageItem[] => {
  const shapes: PageItem[] = [];
  let run: Rectangle[] = [];
  const endRun = () => {
    const [first] = run;
    if (first !== undefined) {
      shapes.push({ type: 'vector', item: { type: 'path', d: run.map(pathOf).join(''), color: first.color } });
    }
    run = [];
  };
  for (const item of items) {
    const next = filledRectangle(item);
    const last = run.at(-1);
    if (next === undefined || last?.color !== next.color) endRun();
    if (next === undefined) shapes.push(item);
    else if (run.length > 0 && last !== undefined && isRightOf(next, last)) last.w += next.w;
    else run.push(next);
  }
  endRun();
  return shapes;
};

type Rectangle = { x: number; y: number; w: number; h: number; color: string };

const isRightOf = (next: Rectangle, last: Rectangle): boolean =>
  next.y === last.y && next.h === last.h && next.x === last.x + last.w;

const pathOf = ({ x, y, w, h }: Rectangle): string => `M${x},${y}h${w}v${h}h-${w}z`;

const filledRectangle = ({ type, item }: PageItem): Rectangle | undefined => {
  if (type !== 'vector') return undefined;
  const shape = item as Readonly<Record<string, unknown>>;
  const { x, y, w, h, color } = shape;
  if (shape.type !== 'rect' || DECORATIONS.some((name) => shape[name] !== undefined)) return undefined;
  if (typeof x !== 'number' || typeof y !== 'number' || typeof w !== 'number' || typeof h !== 'number')
    return undefined;
  return typeof color === 'string' ? { x, y, w, h, color } : undefined;
};

const DECORATIONS = ['r', 'lineColor', 'linearGradient', 'fillOpacity', 'strokeOpacity', 'dash'];

/** At the end of a text: the next text of the content belongs to the same paragraph. */
export const CONTINUES = ' ';

/**
 * Makes the renderer write a tagged PDF for screen readers: each paragraph an element `P` in the order of the content, each image a `Figure` with
 * the text `alt`, every line, box and QR code an artifact. `finish` closes the structure and must be called after the last item.
 */
const tagging = (renderer: Renderer, document: PdfDocument, alt: string): { finish(): void } => {
  const root = document.struct('Document', { lang: 'pt-BR' });
  document.addStructure(root);
  let paragraph: StructureContent[] = [];
  let artifact = false;

  const endArtifact = () => {
    if (artifact) document.endMarkedContent();
    artifact = false;
  };
  const endParagraph = () => {
    if (paragraph.length > 0) root.add(document.struct('P', {}, paragraph));
    paragraph = [];
  };
  const marked = (tag: string, write: () => void): StructureContent => {
    endArtifact();
    const content = document.markStructureContent(tag);
    write();
    document.endMarkedContent();
    return content;
  };
  const inArtifact = (write: () => void) => {
    if (!artifact) document.markContent('Artifact', { type: 'Layout' });
    artifact = true;
    write();
  };

  const { renderLine, renderImage, renderVector, renderSVG } = bound(renderer);
  renderer.renderLine = (line, x, y) => {
    paragraph.push(marked('P', () => renderLine(line, x, y)));
    if (line.inlines.at(-1)?.text.endsWith(CONTINUES) !== true) endParagraph();
  };
  renderer.renderImage = (image) => {
    endParagraph();
    root.add(document.struct('Figure', { alt }, [marked('Figure', () => renderImage(image))]));
  };
  renderer.renderVector = (vector) => inArtifact(() => renderVector(vector));
  renderer.renderSVG = (svg) => {
    if (!svg.svg.includes('<text')) return inArtifact(() => renderSVG(svg));
    endParagraph();
    root.add(document.struct('P', {}, [marked('P', () => renderSVG(svg))]));
  };
  return {
    finish: () => {
      endArtifact();
      endParagraph();
      root.end();
    },
  };
};

const bound = (renderer: Renderer) => ({
  renderLine: renderer.renderLine.bind(renderer),
  renderImage: renderer.renderImage.bind(renderer),
  renderVector: renderer.renderVector.bind(renderer),
  renderSVG: renderer.renderSVG.bind(renderer),
});
