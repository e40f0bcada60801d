import { readFileSync } from 'node:fs';
import type { Note } from '../../../../src/adapters/pdf/note.js';
import { readNote } from '../../../../src/adapters/pdf/read-note.js';
import type { PdfMarks } from '../../../../src/ports/pdf.js';

export const samples = {
  production: 'nfse-07-producao-me-epp-cpf.xml',
  reform: 'nfse-08-restrita-ibscbs.xml',
  web: 'nfse-09-emissor-web-v1.00.xml',
  exported: 'nfse-10-exportacao-construida.xml',
} as const;

export const sampleXml = (name: keyof typeof samples): Buffer =>
  readFileSync(new URL(`../../../../../shared/nfse/samples/${samples[name]}`, import.meta.url));

/** The sample with texts replaced, signatures not remade: the renderer does not look at them. */
export const alteredXml = (name: keyof typeof samples, ...changes: readonly (readonly [string, string])[]): Buffer => {
  const altered = changes.reduce((xml, [from, to]) => {
    if (!xml.includes(from)) throw new Error(`the sample has no ${from}`);
    return xml.replace(from, () => to);
  }, sampleXml(name).toString('utf8'));
  return Buffer.from(altered, 'utf8');
};

export const noteOf = (xml: Buffer): Note => {
  const note = readNote(xml);
  if (note === undefined) throw new Error('not read as a note');
  return note;
};

export const marks = (given: Partial<PdfMarks> = {}): PdfMarks => ({
  canceled: false,
  replaced: false,
  simulated: false,
  ...given,
});
