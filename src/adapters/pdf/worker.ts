import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
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

/** Linux alone has priorities of threads: where two cores have three things to do, clients come before documents. */
const comeAfterClients = (): void => {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Elsewhere, and in a container that forbids it, documents are drawn as they come.
  }
};

// Not before its first document is drawn: where every core is busy, a thread that loads its modules behind everybody else takes
// so long that its client is sent away.
let hasDrawn = false;

parentPort?.on('message', async (request: DrawRequest) => {
  const given = await answer(request);
  if (!hasDrawn) comeAfterClients();
  hasDrawn = true;
  // Handed over, not copied: the thread that answers clients has nothing to do for it.
  parentPort?.postMessage(given, given.ok ? [given.pdf.buffer as ArrayBuffer] : []);
});
