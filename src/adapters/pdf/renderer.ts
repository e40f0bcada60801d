import { availableParallelism } from 'node:os';
import type { PdfRenderer } from '../../ports/pdf.js';
import { createPdfCache, documentKey } from './cache.js';
import { PdfFailed } from './errors.js';
import { createPlaces } from './places-in-line.js';
import { createPool } from './pool.js';
import type { DrawAnswer, DrawRequest } from './protocol.js';

export type PdfRendererOptions = {
  /** Threads that draw at the same time; one core is left to the service. */
  workers?: number;
  /** Longest time for one document; a hung thread is replaced after it. */
  timeoutMs?: number;
  /** Documents that may be on their way at a time: those of one company, and of all. */
  places?: { ofOne: number; inAll: number };
  /** How long one of them may wait for a thread. */
  waitMs?: number;
  /** Bytes of drawn documents that are kept for those who ask again; 0 keeps none. */
  cacheBytes?: number;
};

/**
 * DANFSe per NT 008, drawn in worker threads that companies use in turns. `render` rejects with `TooMuchWaits` when its turn does
 * not come in time and with `PdfFailed` otherwise; the same XML and marks give the same bytes in every process. Several callers
 * may be given the same buffer: nobody may write into it.
 */
export const createPdfRenderer = (options: PdfRendererOptions = {}): PdfRenderer => {
  const pool = createPool<DrawRequest, DrawAnswer>({
    file: workerFile(),
    workers: options.workers ?? Math.max(1, Math.min(4, availableParallelism() - 1)),
    waitMs: options.waitMs ?? 10_000,
    timeoutMs: options.timeoutMs ?? DRAWN_WITHIN_MS,
    heapMb: HEAP_MB,
  });
  const cache = createPdfCache(options.cacheBytes ?? CACHE_BYTES);
  const enter = createPlaces(options.places ?? PLACES);
  return {
    enter: (companyId) => ({
      leave: enter(companyId),
      render: (nfseXml, marks) =>
        cache.get(documentKey(nfseXml, marks), async () => {
          const answer = await pool.run(companyId, { nfseXml: new Uint8Array(nfseXml), marks });
          if (!answer.ok) throw new PdfFailed(answer.reason);
          return Buffer.from(answer.pdf.buffer, answer.pdf.byteOffset, answer.pdf.byteLength);
        }),
    }),
    close: pool.close,
  };
};

/** Those of one company are drawn in about a second when it is alone; memory for those of all is little. */
const PLACES = { ofOne: 32, inAll: 128 };

/** Far more than a document takes: where every core is busy, one that is given up is begun anew by each client that comes back. */
const DRAWN_WITHIN_MS = 30_000;

/** A document has some 70 kB. */
const CACHE_BYTES = 32 * 1024 * 1024;

/** Several times what the largest note takes. */
const HEAP_MB = 256;

// The service runs from TypeScript in development and from compiled JavaScript once built.
const workerFile = (): URL =>
  new URL(import.meta.url.endsWith('.ts') ? './worker.source.mjs' : './worker.js', import.meta.url);
