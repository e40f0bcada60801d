import { expect, it } from 'vitest';
import { readImportedNote } from '../../../src/adapters/authorizer/documents.js';
import { SAMPLE_NOTE } from '../../../src/xml/sample-note.js';

const noteOf = (tpAmb: string) =>
  readImportedNote(Buffer.from(SAMPLE_NOTE.replace(/<tpAmb>\d<\/tpAmb>/, `<tpAmb>${tpAmb}</tpAmb>`)));

it.each([
  ['1', 'live'],
  ['2', 'test'],
  ['3', undefined],
])('a note of the environment %s is of the mode %s', (tpAmb, mode) => {
  expect(noteOf(tpAmb)).toMatchObject({ accessKey: expect.stringMatching(/^\d{50}$/) });
  expect(noteOf(tpAmb)?.mode).toBe(mode);
});

it('has the amount and the instant that the note names', () => {
  expect(noteOf('1')).toMatchObject({ content: { amount: '1.00' }, authorizedAt: '2026-11-21T13:00:00.000Z' });
});

it('another text is no note', () => {
  expect(readImportedNote(Buffer.from('<html/>'))).toBeUndefined();
});
