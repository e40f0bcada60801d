import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { importInvoices } from '../../app/import/import-invoices.js';
import type { NoteFiles } from '../../app/import/plan-line.js';
import { badUsage, type Command, done } from '../command.js';
import { withProblems } from './catalog.js';

/** `invoice import`; XML files are named relative to the file that names them. */
export const importCommands = (readNote: NoteFiles['readNote']): readonly Command[] => [
  {
    name: 'invoice import',
    positionals: ['FILE.ndjson'],
    summary: 'take over invoices made elsewhere, one JSON object a line, all or nothing',
    options: {},
    changes: true,
    run: async ({ positionals: [file = ''], actor, session }) => {
      const text = await readFile(file, 'utf8').catch(() => undefined);
      if (text === undefined) return badUsage(`${file} cannot be read`);
      const opened = await session();
      const result = await importInvoices(text, {
        ...opened.companyDeps(actor),
        readModel: opened.readModel,
        testRetentionSeconds: opened.testRetentionSeconds,
        readXml: (name) => readFile(resolve(dirname(file), name)).catch(() => undefined),
        readNote,
      });
      if ('problems' in result) return withProblems(`${file} was not imported:`, result.problems);
      const { imported, already } = result;
      return done(`${imported} invoices imported, ${already} were there already`, { imported, already });
    },
  },
];
