import { createHash } from 'node:crypto';
import { createPdfRenderer } from '../../../../src/adapters/pdf/renderer.js';
import { marks, noteXml } from './notes.js';

/** Draws one note in a process of its own and exits without closing: an idle thread must not hold it open. */
const pdf = await createPdfRenderer({ workers: 1 }).render(noteXml('reform'), marks({ simulated: true }));
process.stdout.write(createHash('sha256').update(pdf).digest('hex'));
