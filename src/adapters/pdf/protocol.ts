import type { PdfMarks } from '../../ports/pdf.js';

/** What the renderer asks of its thread. One at a time, so that answers need no number. */
export type DrawRequest = { nfseXml: Uint8Array; marks: PdfMarks };

export type DrawAnswer = { ok: true; pdf: Uint8Array } | { ok: false; reason: 'not_a_note' | 'drawing' };
