import { parentPort } from 'node:worker_threads';
import { drawDanfse } from './draw.js';
import type { DrawAnswer, DrawRequest } from './protocol.js';
import { readNote } from './read-note.js';

/** Entry of the thread that draws: the layout takes tens of milliseconds of pure computation. */
const answer = async ({ nfseXml, marks }: DrawRequest): Promise<DrawAnswer> => {
  try {
    const note = readNote(Buffer.from(nfseXml.buffer, nfseXml.byteOffset, nfseXml.byteLength));
    if (note === undefined) return { ok: false, reason: 'not_a_note' };
    return { ok: true, pdf: new Uint8Array(await drawDanfse(note, marks)) };
  } catch {
    // What went wrong may quote the note, so only that it went wrong leaves the thread.
    return { ok: false, reason: 'drawing' };
  }
};

parentPort?.on('message', async (request: DrawRequest) => {
  const given = await answer(request);
  // Handed over, not copied: the thread that answers clients has nothing to do for it.
  parentPort?.postMessage(given, given.ok ? [given.pdf.buffer as ArrayBuffer] : []);
});
