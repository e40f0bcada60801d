import { inflateSync } from 'node:zlib';
import { zlibSync } from 'fflate';
import type { PdfDocument, PdfReference } from './pdfmake-parts.js';

/**
 * Compresses all streams that the document writes from now on with fflate. The output of zlib depends on its version and on the processor, that of
 * fflate on the input alone. Metadata stays plain, so that every program finds it. The document itself must be created with `compress: false`.
 * `isShared`: the stream is the same in every document.
 */
export const compressStreams = (document: PdfDocument, isShared: (stream: Buffer) => boolean): void => {
  const plainRef = document.ref.bind(document);
  document.ref = (data) => {
    const reference = plainRef(data);
    const join = joinLines(reference);
    const finalize = reference.finalize.bind(reference);
    reference.finalize = () => {
      join();
      compress(reference, isShared);
      finalize();
    };
    return reference;
  };
};

/**
 * pdfkit makes a buffer of each of the thousands of lines of a page. Here the lines of a stream become one buffer, which the result puts in its place.
 */
const joinLines = (reference: PdfReference): (() => void) => {
  const write = reference.write.bind(reference);
  let lines = '';
  reference.write = (chunk) => {
    if (typeof chunk !== 'string' || reference.buffer.length > 0) return write(chunk);
    lines += `${chunk}\n`;
    reference.data.Length ??= 0;
  };
  return () => {
    if (lines !== '') reference.buffer.unshift(Buffer.from(lines, 'latin1'));
  };
};

/**
 * Takes what the document writes from now on past its stream, which would pass on each line by itself. The result is the whole file, once it has
 * ended.
 */
export const joinObjects = (document: PdfDocument): (() => Buffer) => {
  const parts: Buffer[] = [];
  // Node 26 gives the lines written so far one by one, earlier versions all at once.
  for (let head = document.read(); head !== null; head = document.read()) parts.push(head);
  let lines = '';
  const endLines = (): void => {
    if (lines !== '') parts.push(Buffer.from(lines, 'latin1'));
    lines = '';
  };
  document._write = (data) => {
    if (typeof data === 'string') {
      lines += `${data}\n`;
      document._offset += data.length + 1;
      return;
    }
    endLines();
    parts.push(data);
    document._offset += data.length;
  };
  return () => {
    if (!lines.endsWith(LAST_LINE)) throw new Error('pdfkit still waits for a part of the page');
    endLines();
    return Buffer.concat(parts);
  };
};

const LAST_LINE = '%%EOF\n';

const compress = (reference: PdfReference, isShared: (stream: Buffer) => boolean): void => {
  if (reference.buffer.length === 0 || reference.data.Type === 'Metadata') return;
  const given = Buffer.concat(reference.buffer);
  const isByZlib = reference.data.Filter !== undefined;
  reference.buffer = [compressed(given, isByZlib, isByZlib || given.length <= SHORT || isShared(given))];
  reference.data.Filter = 'FlateDecode';
};

/** What is kept is compressed once per thread, and what is drawn for one document on each request: a tenth larger in half of the time. */
const LEVEL = { kept: 6, drawn: 2 } as const;

/** Images, which arrive compressed by zlib, files of usual glyphs and short streams (colour profile, code points) repeat, so their results are kept. */
const compressed = (given: Buffer, isByZlib: boolean, isKept: boolean): Buffer => {
  const found = isKept ? kept.find((known) => known.given.equals(given)) : undefined;
  if (found !== undefined) return found.result;
  const plain = isByZlib ? inflateSync(given) : given;
  const result = Buffer.from(zlibSync(plain, { level: isKept ? LEVEL.kept : LEVEL.drawn }));
  if (isKept) kept.unshift({ given, result });
  if (kept.length > MOST_KEPT) kept.pop();
  return result;
};

const SHORT = 4_096;
const MOST_KEPT = 24;

const kept: { given: Buffer; result: Buffer }[] = [];
