import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type { Content } from 'pdfmake/interfaces.js';

/**
 * The parts of pdfmake and pdfkit that `renderOnePage` puts together, typed as far as it uses them; package-lock.json pins both versions. Their
 * published types describe only `createPdf`, which parses every font again for every document (ADR 20).
 */
export type PdfDocument = Pick<Readable, 'read'> & {
  readonly _font: EmbeddedFont;
  /** By the path of the font's file. A font that is listed here is not opened again. */
  readonly _fontFamilies: Record<string, EmbeddedFont>;
  /** By the name of the picture in the content. A picture that is listed here is not opened again. */
  readonly _imageRegistry: Record<string, EmbeddedPicture>;
  font(path: string): PdfDocument;
  openImage(dataUrl: string): EmbeddedPicture;
  ref: (data?: object) => PdfReference;
  struct(
    type: string,
    options: { alt?: string; lang?: string },
    children?: readonly StructureContent[],
  ): StructureElement;
  addStructure(element: StructureElement): PdfDocument;
  markStructureContent(tag: string): StructureContent;
  markContent(tag: string, options: { type: string }): PdfDocument;
  endMarkedContent(): PdfDocument;
  /** Bytes written so far. */
  _offset: number;
  /** Writes bytes, or a text of Latin-1 and a line break. */
  _write: (data: string | Buffer) => void;
  end(): void;
};

/** An object of the PDF; `buffer` is what its stream holds when it is finalized. */
export type PdfReference = {
  readonly data: { Type?: unknown; Filter?: unknown; Length?: number };
  buffer: Buffer[];
  /** Bytes, or a text of Latin-1 that a line break follows. */
  write: (chunk: string | Buffer) => void;
  finalize: () => void;
};

/** A PNG file as one document embeds it; `alphaChannel` is compressed by zlib. */
type EmbeddedPicture = {
  alphaChannel?: Buffer | undefined;
  embed(document: PdfDocument): void;
  /** Sets `alphaChannel` of a picture with a palette, then calls `finalize`, which writes the picture into the document. */
  loadIndexedAlphaChannel(): void;
  finalize(): void;
};

/** A font as one document embeds it. */
export type EmbeddedFont = {
  readonly font: ParsedFont;
  /** The glyphs that the document embeds; `widths` and `unicode` hold what the document says of each. */
  subset: GlyphSubset;
  widths: number[];
  unicode: (readonly number[])[];
  layoutRun(text: string, features?: object): Run;
  /** Adds the glyphs of the text to `subset`. */
  encode(text: string): unknown;
};

export type GlyphSubset = {
  /** The place of a glyph in the subset, where it is added when it is missing. */
  includeGlyph(glyph: number): number;
  /** The font file with the glyphs of the subset alone. */
  encode(): Uint8Array;
};

export type EmbeddedFontClass = new (document: PdfDocument, font: ParsedFont, id: string) => EmbeddedFont;

/** Glyphs of a text with their places in thousandths of the font's size; never modified after the layout. */
export type Run = { readonly glyphs: unknown; readonly positions: unknown; readonly advanceWidth: number };

export type ParsedFont = {
  readonly characterSet: readonly number[];
  createSubset(): GlyphSubset;
  hasGlyphForCodePoint(codePoint: number): boolean;
  glyphForCodePoint(codePoint: number): unknown;
};

/** A run of marked content on the page, for an element of the structure. */
export type StructureContent = { readonly refs: readonly unknown[] };

type StructureElement = {
  add(child: StructureElement | StructureContent): StructureElement;
  end(): void;
};

export type PageItem = { readonly type: string; readonly item: unknown };

type LaidOutPage = { items: readonly PageItem[] };

type Margins = { left: number; top: number; right: number; bottom: number };

type LayoutBuilder = {
  layoutDocument(content: Content[], document: PdfDocument, styles: object, defaultStyle: object): LaidOutPage[];
};

export type Renderer = {
  renderPages(pages: readonly LaidOutPage[]): void;
  renderLine(line: { inlines: readonly { text: string }[] }, x: number, y: number): void;
  renderVector(vector: unknown): void;
  renderImage(image: unknown): void;
  renderSVG(svg: { svg: string }): void;
};

const require = createRequire(import.meta.url);

export const PdfDocument: new (
  fonts: object,
  images: object,
  patterns: object,
  attachments: object,
  options: object,
  virtualfs: null,
  localAccessPolicy: (path: string) => boolean,
) => PdfDocument = require('pdfmake/js/PDFDocument.js').default;

export const LayoutBuilder: new (
  pageSize: { width: number; height: number; orientation: 'portrait' },
  margins: Margins,
  svgMeasure: object,
) => LayoutBuilder = require('pdfmake/js/LayoutBuilder.js').default;

export const SvgMeasure: new () => object = require('pdfmake/js/SVGMeasure.js').default;

export const Renderer: new (document: PdfDocument) => Renderer = require('pdfmake/js/Renderer.js').default;
