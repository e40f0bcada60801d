/** What the XML does not say. `simulated`: a note of the simulator, which nobody may take for real. */
export type PdfMarks = { canceled: boolean; replaced: boolean; simulated: boolean };

/** Draws the DANFSe of an authorized NFS-e from its XML alone; the same input gives the same bytes. */
export type PdfRenderer = {
  render(nfseXml: Buffer, marks: PdfMarks): Promise<Buffer>;
  close(): Promise<void>;
};
