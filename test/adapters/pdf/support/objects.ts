import { inflateSync } from 'node:zlib';

/** An indirect object: its dictionary as text, and its stream, inflated, when it has one. */
type PdfObject = { id: string; dictionary: string; stream?: Buffer; storedLength: number };

/** The objects of a PDF as pdfkit writes it (one after the other, no object streams), in the order of the file. */
export const objectsOf = (pdf: Buffer): readonly PdfObject[] => {
  const text = pdf.toString('latin1');
  const objects: PdfObject[] = [];
  let read = 0;
  for (const begin of text.matchAll(/^(\d+) 0 obj\n/gm)) {
    const start = begin.index + begin[0].length;
    // Bytes of a stream may look like an object.
    if (begin.index < read) continue;
    const end = text.indexOf('\nendobj\n', start);
    const body = text.slice(start, end);
    const at = body.indexOf('\nstream\n');
    if (at < 0) {
      objects.push({ id: begin[1] ?? '', dictionary: body, storedLength: 0 });
      continue;
    }
    const dictionary = body.slice(0, at);
    const first = start + at + '\nstream\n'.length;
    const last = text.indexOf('\nendstream\nendobj\n', first);
    read = last;
    const stored = pdf.subarray(first, last);
    const stream = dictionary.includes('/Filter /FlateDecode') ? inflateSync(stored) : stored;
    objects.push({ id: begin[1] ?? '', dictionary, stream, storedLength: stored.length });
  }
  return objects;
};

/** Those whose dictionary holds the text. */
export const objectsWith = (pdf: Buffer, part: string): readonly PdfObject[] =>
  objectsOf(pdf).filter(({ dictionary }) => dictionary.includes(part));

/** The drawing operators of the only page. */
export const pageContentOf = (pdf: Buffer): string => {
  const id = /\/Contents (\d+) 0 R/.exec(pdf.toString('latin1'))?.[1];
  const found = objectsOf(pdf).find((object) => object.id === id)?.stream;
  if (found === undefined) throw new Error('the page has no content');
  return found.toString('latin1');
};
