import type { CompanyId } from '../domain/common/ids.js';

/** What the XML does not say. `simulated`: a note of the simulator, marked so that it cannot pass for a real note. */
export type PdfMarks = { canceled: boolean; replaced: boolean; simulated: boolean };

/** Renders the DANFSe of an authorized NFS-e from its XML alone. The same input gives the same bytes. */
export type PdfRenderer = {
  /**
   * Takes one of the company's permits before anything is read for the rendering. Throws `TooManyWaiting` at once when the company has no permit left.
   */
  enter(companyId: CompanyId): RenderPermit;
  close(): Promise<void>;
};

type RenderPermit = {
  /** Renders when it is the company's turn. Companies take turns, however many renderings each of them waits for. */
  render(nfseXml: Buffer, marks: PdfMarks): Promise<Buffer>;
  /** Gives the permit back, rendered or not. */
  leave(): void;
};
