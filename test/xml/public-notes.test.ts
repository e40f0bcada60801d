import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNote } from '../../src/adapters/authorizer/documents.js';
import { createPdfRenderer, PdfFailed } from '../../src/adapters/pdf/renderer.js';
import { describeWith, publicNotesFolder } from '../support/needs.js';
import { schemaFaults } from '../support/schema.js';

type Row = { sha256: string; file: string; layout: string; schema: string; read: string; pdf: string };

/** Notes in the tests and examples of other projects. The files stay where they are; the manifest holds their hashes and what they are to this program. */
const manifest: readonly Row[] = readFileSync(new URL('./public-notes.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [sha256 = '', file = '', layout = '', schema = '', read = '', pdf = ''] = line.split('\t');
    return { sha256, file, layout, schema, read, pdf };
  });

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** By hash, so that the files may lie anywhere below the folder. */
const filesIn = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.xml'))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)))
      .map((bytes) => [sha256(bytes), bytes]),
  );

describeWith('publicNotes', 'the notes of other projects', () => {
  const pdf = createPdfRenderer();
  let files: ReadonlyMap<string, Buffer>;
  beforeAll(() => {
    files = filesIn(publicNotesFolder());
  });
  afterAll(() => pdf.close());

  const drawingOf = async (xml: Buffer): Promise<string> => {
    const slot = pdf.enter('12345678000195');
    try {
      const drawn = await slot.render(xml, { canceled: false, replaced: false, simulated: false });
      return drawn.subarray(0, 5).toString() === '%PDF-' ? 'drawn' : 'no pdf';
    } catch (error) {
      if (error instanceof PdfFailed) return error.reason;
      throw error;
    } finally {
      slot.leave();
    }
  };

  it.each(manifest)('$file', async ({ file: _file, ...row }) => {
    const xml = files.get(row.sha256);
    if (xml === undefined) throw new Error('PUBLIC_NOTES has no file with this hash');
    const note = readNote(gzipSync(xml).toString('base64'));
    const signature = note?.signatureFault ?? 'holds';
    expect({
      sha256: sha256(xml),
      layout: /versao="([^"]+)"/.exec(xml.toString('utf8'))?.[1],
      schema: schemaFaults('NFSe', xml).length === 0 ? 'valid' : 'invalid',
      read: note === undefined ? 'no' : `signature ${signature}`,
      pdf: await drawingOf(xml),
    }).toEqual(row);
  });
});

describe('the manifest of notes of other projects', () => {
  it('names each file once, in order', () => {
    const hashes = manifest.map((row) => row.sha256);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(manifest.map(({ file }) => file)).toEqual(manifest.map(({ file }) => file).toSorted());
    expect(manifest.length).toBeGreaterThan(39);
  });
});
