import { expect, it } from 'vitest';
import { isSimulatorsNote } from '../../../src/runtime/engines/simulator-notes.js';
import { noteSignedBy } from '../../support/fixture/signed-notes.js';

it('a note is a simulator’s by the authorizer’s signature, not by that of the DPS in it', () => {
  expect(isSimulatorsNote(noteSignedBy('simulator', 'other'))).toBe(true);
  expect(isSimulatorsNote(noteSignedBy('other', 'simulator'))).toBe(false);
  const prefixed = noteSignedBy('simulator').toString().replaceAll('X509Certificate', 'ds:X509Certificate');
  expect(isSimulatorsNote(Buffer.from(prefixed))).toBe(true);
});

it('a note without a certificate that can be read is no simulator’s', () => {
  for (const xml of ['', 'not XML', '<NFSe/>', '<X509Certificate>AAAA</X509Certificate>', 'X509Certificate>'])
    expect(isSimulatorsNote(Buffer.from(xml))).toBe(false);
});
