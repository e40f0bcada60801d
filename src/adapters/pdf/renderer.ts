import { createHash } from 'node:crypto';
import type { CompanyId } from '../../domain/common/ids.js';
import { entryFile } from '../../lib/entry-file.js';
import { type Presence, TooManyWaiting } from '../../lib/fair-semaphore.js';
import { createThreadPool, JobFailed, type JobFailure } from '../../lib/thread-pool.js';
import type { PdfMarks, PdfRenderer } from '../../ports/pdf.js';
import { SAMPLE_NOTE } from '../../xml/sample-note.js';

export type PdfRendererOptions = {
  /** Rendering threads; default 1. */
  workers?: number;
  /** Heap of one thread in MiB; the default is several times what the largest note takes. */
  heapMb?: number;
  /** Beside the heap, for young objects of one thread, in MiB; the default is Node's. */
  youngMb?: number | undefined;
  /** Longest time for one PDF in each of two threads; a thread that takes longer is replaced. */
  timeoutMs?: number;
  /** PDFs under way at the same time: of one company, and of all. */
  permits?: { ofOne: number; inAll: number };
  /** Longest wait for a thread. */
  waitMs?: number;
  /** While several companies are present, one company leaves threads to the others; default: it need not. */
  presence?: Presence;
};

/** `not_a_note`: the XML is not an NFS-e with the parts that every NFS-e has. `layout`: the layout failed. */
type PdfFailure = JobFailure | 'not_a_note' | 'layout';

/** A PDF could not be rendered. The message never quotes the note; `cause` says why a thread died. */
export class PdfFailed extends Error {
  override readonly name = 'PdfFailed';

  constructor(
    readonly reason: PdfFailure,
    cause?: unknown,
  ) {
    super(`the PDF was not rendered: ${reason}`, { cause });
  }
}

/** A request to a rendering thread. A thread has one at a time, so answers need no number. */
export type RenderRequest = { nfseXml: Uint8Array; marks: PdfMarks };

export type RenderAnswer = { ok: true; pdf: Uint8Array } | { ok: false; reason: 'not_a_note' | 'layout' };

/**
 * Renders the DANFSe of NT 008 in worker threads; companies take turns. `enter` throws `TooManyWaiting` when the company has no permit left. `render`
 * rejects with `TooManyWaiting` when no thread is free in time, and with `PdfFailed` otherwise. The same XML and marks give the same bytes in every
 * process. No PDF is kept. Concurrent callers may share one buffer and must not write into it. `warm` prepares the threads, so that the first PDF
 * takes no longer than others; it never rejects.
 */
export const createPdfRenderer = (options: PdfRendererOptions = {}): PdfRenderer & { warm(): Promise<void> } => {
  const pool = createThreadPool<RenderRequest, RenderAnswer>({
    what: WHAT,
    file: entryFile('./worker', import.meta.url),
    workers: options.workers ?? 1,
    waitMs: options.waitMs ?? 10_000,
    timeoutMs: options.timeoutMs ?? RENDER_TIMEOUT_MS,
    heapMb: options.heapMb ?? HEAP_MB,
    youngMb: options.youngMb,
    presence: options.presence,
  });
  const shared = shareRenderings();
  const enter = createRenderPermits(options.permits ?? PERMITS);
  const render = async (companyId: CompanyId, request: RenderRequest): Promise<Buffer> => {
    const answer = await pool.run(companyId, request).catch((error: unknown) => {
      throw error instanceof JobFailed ? new PdfFailed(error.reason, error.cause) : error;
    });
    if (!answer.ok) throw new PdfFailed(answer.reason);
    return Buffer.from(answer.pdf.buffer, answer.pdf.byteOffset, answer.pdf.byteLength);
  };
  return {
    enter: (companyId) => ({
      leave: enter(companyId),
      render: (nfseXml, marks) =>
        shared(documentKey(nfseXml, marks), () => render(companyId, { nfseXml: new Uint8Array(nfseXml), marks })),
    }),
    warm: () => pool.warm({ nfseXml: new Uint8Array(Buffer.from(SAMPLE_NOTE)), marks: NO_MARKS }),
    close: pool.close,
  };
};

const NO_MARKS: PdfMarks = { canceled: false, replaced: false, simulated: false };

/** In messages. */
const WHAT = 'PDFs to be rendered';

/** 32 PDFs take about a second when their company is alone; 128 need little memory. */
const PERMITS = { ofOne: 32, inAll: 128 };

/**
 * Far more than a PDF takes. On busy cores a shorter limit would add work, because each client that repeats its request starts the rendering again.
 */
const RENDER_TIMEOUT_MS = 15_000;

const HEAP_MB = 256;

/**
 * Limits the PDFs under way. The returned function takes a permit for the owner and returns a function that gives it back. It throws
 * `TooManyWaiting` when the owner has `ofOne` permits, or when `inAll` are taken and the owner has one already. An owner always gets a first permit.
 */
export const createRenderPermits = ({
  ofOne,
  inAll,
}: {
  ofOne: number;
  inAll: number;
}): ((owner: string) => () => void) => {
  const taken = new Map<string, number>();
  let all = 0;
  return (owner) => {
    const own = taken.get(owner) ?? 0;
    if (own >= ofOne) throw new TooManyWaiting(WHAT);
    if (all >= inAll && own > 0) throw new TooManyWaiting(WHAT, 'all');
    taken.set(owner, own + 1);
    all += 1;
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      all -= 1;
      const left = (taken.get(owner) ?? 0) - 1;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
    };
  };
};

/**
 * SHA-256 over the bytes of the note and the marks that its XML does not hold. Two notes never share a key, so no caller gets the PDF of another
 * company.
 */
export const documentKey = (nfseXml: Uint8Array, { canceled, replaced, simulated }: PdfMarks): string =>
  createHash('sha256').update(JSON.stringify({ canceled, replaced, simulated })).update(nfseXml).digest('base64');

/**
 * Concurrent callers of a key share one rendering; its failure rejects for all of them. Nothing is kept of a rendering that has ended, because the
 * PDF of a test invoice must leave memory with it.
 */
export const shareRenderings = (): ((key: string, render: () => Promise<Buffer>) => Promise<Buffer>) => {
  const underWay = new Map<string, Promise<Buffer>>();
  return (key, render) => {
    const rendering = underWay.get(key) ?? render().finally(() => underWay.delete(key));
    underWay.set(key, rendering);
    return rendering;
  };
};
