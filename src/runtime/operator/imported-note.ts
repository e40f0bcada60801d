import { readNote } from '../../adapters/authorizer/documents.js';
import type { NoteFiles } from '../../app/operator/import/import-line.js';
import { gzipBase64 } from '../../xml/packing.js';

/** Reads the XML of a note that was made elsewhere; undefined for any other text. */
export const readImportedNote: NoteFiles['readNote'] = (xml) => readNote(gzipBase64(xml));
