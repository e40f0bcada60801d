import { availableParallelism } from 'node:os';
import type { PdfRenderer } from '../../ports/pdf.js';
import { PdfFailed } from './errors.js';
import { createPool } from './pool.js';
import type { DrawAnswer, DrawRequest } from './protocol.js';

export type PdfRendererOptions = {
  /** Threads that draw at the same time; one core is left to the service. */
  workers?: number;
  /** Longest time for one document; a hung thread is replaced after it. */
  timeoutMs?: number;
  /** Documents that may wait for a thread. */
  waiting?: number;
};

/**
 * DANFSe per NT 008, drawn in worker threads. `render` rejects with `PdfBusy` when too many documents wait and with
 * `PdfFailed` otherwise; the same XML and marks give the same bytes in every process.
 */
export const createPdfRenderer = (options: PdfRendererOptions = {}): PdfRenderer => {
  const pool = createPool<DrawRequest, DrawAnswer>({
    file: workerFile(),
    workers: options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
    waiting: options.waiting ?? 64,
    timeoutMs: options.timeoutMs ?? 20_000,
  });
  return {
    render: async (nfseXml, marks) => {
      const answer = await pool.run({ nfseXml: new Uint8Array(nfseXml), marks });
      if (!answer.ok) throw new PdfFailed(answer.reason);
      return Buffer.from(answer.pdf.buffer, answer.pdf.byteOffset, answer.pdf.byteLength);
    },
    close: pool.close,
  };
};

// The service runs from TypeScript in development and from compiled JavaScript once built.
const workerFile = (): URL =>
  new URL(import.meta.url.endsWith('.ts') ? './worker.source.mjs' : './worker.js', import.meta.url);
