import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { renderDanfse } from './danfse.js';
import { readNote } from './read-note.js';
import type { RenderAnswer, RenderRequest } from './renderer.js';

/** Renders in this thread, because a layout takes tens of milliseconds of computation. */
const answer = async ({ nfseXml, marks }: RenderRequest): Promise<RenderAnswer> => {
  try {
    const note = readNote(Buffer.from(nfseXml.buffer, nfseXml.byteOffset, nfseXml.byteLength));
    if (note === undefined) return { ok: false, reason: 'not_a_note' };
    return { ok: true, pdf: new Uint8Array(await renderDanfse(note, marks)) };
  } catch {
    // The error may quote the note, so only the fact of a failure leaves the thread.
    return { ok: false, reason: 'layout' };
  }
};

/**
 * So that API requests come before PDFs on busy cores. With 5 a flood of an unrelated server on the same cores made a PDF's p99 three times that of
 * quiet times, with 2 twice (ADR 29).
 */
const NICENESS = 2;

/** Lowers the priority of this thread. Only Linux has priorities of threads. */
const lowerPriority = (): void => {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Other systems, and containers that forbid it, keep the normal priority.
  }
};

// The priority is lowered after the first PDF only: on busy cores a thread of low priority loads its modules so slowly that its client is refused.
let hasRendered = false;

parentPort?.on('message', async (request: RenderRequest) => {
  const given = await answer(request);
  if (!hasRendered) lowerPriority();
  hasRendered = true;
  // The buffer is transferred instead of copied, to spare the main thread.
  parentPort?.postMessage(given, given.ok ? [given.pdf.buffer as ArrayBuffer] : []);
});
