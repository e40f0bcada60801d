import { createPdfRenderer, type PdfRendererOptions } from '../../../../src/adapters/pdf/renderer.js';
import type { PdfMarks } from '../../../../src/ports/pdf.js';

const COMPANY = '12345678000195';

/** The renderer for sequential callers, each with a reserved place in the queue. */
export const openRenderer = (options?: PdfRendererOptions) => {
  const renderer = createPdfRenderer(options);
  return {
    render: async (nfseXml: Buffer, marks: PdfMarks, companyId = COMPANY): Promise<Buffer> => {
      const place = renderer.enter(companyId);
      try {
        return await place.render(nfseXml, marks);
      } finally {
        place.leave();
      }
    },
    close: renderer.close,
  };
};
