import type { CompanyId } from '../domain/shared/ids.js';

/** What the XML does not say. `simulated`: a note of the simulator, which nobody may take for real. */
export type PdfMarks = { canceled: boolean; replaced: boolean; simulated: boolean };

/** Draws the DANFSe of an authorized NFS-e from its XML alone; the same input gives the same bytes. */
export type PdfRenderer = {
  /**
   * A place among those of the company whose documents are to be drawn, taken before anything is read for it. Throws
   * `TooMuchWaits` at once when the company has too many.
   */
  enter(companyId: CompanyId): PdfPlace;
  close(): Promise<void>;
};

export type PdfPlace = {
  /** Draws when it is the company's turn: companies take turns, whatever each of them waits for. */
  render(nfseXml: Buffer, marks: PdfMarks): Promise<Buffer>;
  /** Gives the place up, drawn or not. */
  leave(): void;
};
