import { expect, it } from 'vitest';
import { readNote as readForTheProtocol } from '../../src/adapters/authorizer/documents.js';
import { readNote as readForThePage } from '../../src/adapters/pdf/read-note.js';
import { gzipBase64 } from '../../src/xml/packing.js';
import { SAMPLE_NOTE } from '../../src/xml/sample-note.js';

it('the note that threads get ready with is read by both of their programs', () => {
  const xml = Buffer.from(SAMPLE_NOTE);
  expect(readForTheProtocol(gzipBase64(xml))).toMatchObject({ nfseNumber: '1', signatureFault: 'missing' });
  expect(readForThePage(xml)).toMatchObject({ nNFSe: '1' });
});
