import { inflateSync } from 'node:zlib';
import { zlibSync } from 'fflate';
import type { PdfDocument, PdfReference } from './pdfmake-parts.js';

/**
 * Compresses whatever the document writes from now on in JavaScript: the result of zlib depends on its version and on the
 * processor, this one on the input alone. Metadata stays plain, so that every program finds it. The document itself must not
 * compress.
 */
export const compressStreams = (document: PdfDocument): void => {
  const plainRef = document.ref.bind(document);
  document.ref = (data) => {
    const reference = plainRef(data);
    const finalize = reference.finalize.bind(reference);
    reference.finalize = () => {
      compress(reference);
      finalize();
    };
    return reference;
  };
};

const compress = (reference: PdfReference): void => {
  if (reference.buffer.length === 0 || reference.data.Type === 'Metadata') return;
  const given = Buffer.concat(reference.buffer);
  reference.buffer = [reference.data.Filter === undefined ? deflate(given) : compressedAnew(given)];
  reference.data.Filter = 'FlateDecode';
};

const deflate = (plain: Uint8Array): Buffer => Buffer.from(zlibSync(plain));

/** Images come as zlib left them, and are the same in every document. */
const compressedAnew = (given: Buffer): Buffer => {
  const found = images.find((image) => image.given.equals(given));
  if (found !== undefined) return found.compressed;
  const compressed = deflate(inflateSync(given));
  if (images.length < IMAGES_KEPT) images.push({ given, compressed });
  return compressed;
};

const IMAGES_KEPT = 8;

const images: { given: Buffer; compressed: Buffer }[] = [];
