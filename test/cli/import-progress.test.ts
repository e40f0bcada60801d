import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { readImportedNote } from '../../src/adapters/authorizer/documents.js';
import { importCommand } from '../../src/cli/commands/invoice-import.js';
import { Interrupted } from '../../src/cli/progress.js';
import { runCommand } from '../../src/cli/run.js';
import type { SessionNeeds } from '../../src/cli/session.js';
import { importLine, openImporter } from '../support/harness/importer.js';
import type { Operator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const AT = '2026-11-21T12:00:00.000Z';

describeWithPostgres('the progress of nfse invoice import', () => {
  let operator: Operator;
  let progress: string[];
  let said: { out: string[]; err: string[]; needs: (SessionNeeds | undefined)[] };

  beforeAll(async () => {
    operator = await openImporter(CNPJ, AT);
  });
  beforeEach(() => {
    progress = [];
    said = { out: [], err: [], needs: [] };
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => operator.close());

  /** Imports 40 invoices, which are three groups of lines. */
  const importing = async (name: string, isTTY: boolean, flags: readonly string[] = [], signal?: AbortSignal) => {
    const lines = Array.from({ length: 40 }, (_, n) => importLine(CNPJ, AT, { reference: `${name}-${n}` }));
    const file = join(operator.folder, `${name}.ndjson`);
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const terminal = {
      out: (text: string) => void said.out.push(text),
      err: (text: string) => void said.err.push(text),
      progress: { isTTY, write: (text: string) => progress.push(text) },
      ...(signal === undefined ? {} : { untilInterrupted: () => signal }),
    };
    const open = async (needs?: SessionNeeds) => {
      said.needs.push(needs);
      return operator.session;
    };
    const commands = [importCommand(async () => readImportedNote)];
    return await runCommand(['invoice', 'import', file, ...flags], commands, open, terminal);
  };

  it('is a bar of the lines on a terminal, on stderr only', async () => {
    expect(await importing('bar', true)).toBe(0);
    expect(said).toMatchObject({ out: ['40 invoices imported, 0 were there already'], err: [] });
    const shown = progress.join('');
    expect(shown.match(/\w+ +\d+ % \[[#.]{30}\] \d+ of 40 lines/g)).toEqual([
      expect.stringMatching(/^read +40 % .* 16 of/),
      expect.stringMatching(/^read +80 % .* 32 of/),
      expect.stringMatching(/^read +100 % .* 40 of/),
      expect.stringMatching(/^read +100 % .* 40 of/),
      expect.stringMatching(/^check +40 % .* 16 of/),
      expect.stringMatching(/^check +80 % .* 32 of/),
      expect.stringMatching(/^check +100 % .* 40 of/),
      expect.stringMatching(/^check +100 % .* 40 of/),
      expect.stringMatching(/^import +40 % .* 16 of/),
      expect.stringMatching(/^import +80 % .* 32 of/),
      expect.stringMatching(/^import +100 % .* 40 of/),
      expect.stringMatching(/^import +100 % .* 40 of/),
    ]);
    expect(shown.endsWith('\n')).toBe(true);
  });

  it('is no word where there is no terminal and the import is short', async () => {
    expect(await importing('short', false, ['--json'])).toBe(0);
    expect(said).toMatchObject({ out: ['{"imported":40,"already":0,"warnings":[]}'], err: [] });
    expect(progress).toEqual([]);
  });

  it('is a line every 30 s where there is no terminal', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { store } = operator.session;
    const append = store.append.bind(store);
    // Of 40 invoices the sixteenth and the last end a group of lines.
    vi.spyOn(store, 'append').mockImplementation(async (...own) => {
      now += 1_000;
      return await append(...own);
    });
    expect(await importing('long', false, ['--json'])).toBe(0);
    expect(said).toMatchObject({
      out: ['{"imported":40,"already":0,"warnings":[]}'],
      err: ['import: 32 of 40 lines'],
    });
    expect(progress).toEqual([]);
  });

  it('ends after a signal behind the group of lines that is at work, and the same file again adds the rest', async () => {
    const interrupted = new AbortController();
    const { store } = operator.session;
    const append = store.append.bind(store);
    vi.spyOn(store, 'append').mockImplementation(async (...own) => {
      interrupted.abort();
      return await append(...own);
    });
    await expect(importing('cut', false, [], interrupted.signal)).rejects.toThrow(Interrupted);
    vi.restoreAllMocks();
    expect(await importing('cut', false)).toBe(0);
    expect(said.out).toEqual(['24 invoices imported, 16 were there already']);
  });

  it('makes no database for a check', async () => {
    expect(await importing('needs', false, ['--check'])).toBe(0);
    expect(await importing('needs', false)).toBe(0);
    expect(said.needs).toEqual([{ onlyExisting: true }, undefined]);
  });
});
