import { createHash } from 'node:crypto';
import type { PdfMarks } from '../../ports/pdf.js';

export type PdfCache = {
  /** The document of `key`, drawn by at most one caller at a time; a failure is told to all who wait and not kept. */
  get(key: string, draw: () => Promise<Buffer>): Promise<Buffer>;
};

/**
 * Everything that a document shows, as a key: the very bytes of its XML and what the XML does not say. Whoever has another
 * note has another key, so nobody can be given somebody else's document. It holds no version of the renderer, because
 * the cache ends with the process.
 */
export const documentKey = (nfseXml: Uint8Array, { canceled, replaced, simulated }: PdfMarks): string =>
  createHash('sha256').update(JSON.stringify({ canceled, replaced, simulated })).update(nfseXml).digest('base64');

/** The documents asked for last, as many as `maxBytes` hold; one that is larger by itself is never kept. */
export const createPdfCache = (maxBytes: number): PdfCache => {
  const kept = new Map<string, Buffer>();
  const drawing = new Map<string, Promise<Buffer>>();
  let bytes = 0;

  const keep = (key: string, pdf: Buffer) => {
    if (pdf.length > maxBytes) return;
    kept.set(key, pdf);
    bytes += pdf.length;
    for (const [oldest, { length }] of kept) {
      if (bytes <= maxBytes) return;
      kept.delete(oldest);
      bytes -= length;
    }
  };
  const begin = (key: string, draw: () => Promise<Buffer>): Promise<Buffer> => {
    const underWay = draw()
      .then((pdf) => {
        keep(key, pdf);
        return pdf;
      })
      .finally(() => drawing.delete(key));
    drawing.set(key, underWay);
    return underWay;
  };

  return {
    get: async (key, draw) => {
      const found = kept.get(key);
      if (found !== undefined) {
        // The order of a Map is that of insertion: the first one is the one not asked for the longest.
        kept.delete(key);
        kept.set(key, found);
        return found;
      }
      return await (drawing.get(key) ?? begin(key, draw));
    },
  };
};
