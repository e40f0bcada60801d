import { readNote } from '../../adapters/authorizer/documents.js';
import type { NoteFiles } from '../../app/operator/import/import-line.js';
import { gzipBase64 } from '../../xml/packing.js';
import { parseXml, textAt } from '../../xml/parse.js';

/** Reads the XML of a note that was made elsewhere; undefined for any other text. */
export const readImportedNote: NoteFiles['readNote'] = (xml) => {
  const note = readNote(gzipBase64(xml));
  const parsed = parseXml(xml);
  if (note === undefined || !parsed.ok) return undefined;
  const tpAmb = textAt(parsed.root, 'NFSe/infNFSe/DPS/infDPS/tpAmb');
  const { amount } = note.content;
  return { ...note, amount, mode: tpAmb === '1' ? 'live' : tpAmb === '2' ? 'test' : undefined };
};
