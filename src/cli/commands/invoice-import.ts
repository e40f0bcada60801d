import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { MAX_XML_BYTES } from '../../app/download/download.js';
import { importInvoices } from '../../app/operator/import/import-invoices.js';
import type { NoteFiles } from '../../app/operator/import/import-line.js';
import { isAccessKey } from '../../domain/common/access-key.js';
import { counted } from '../../lib/counted.js';
import { badUsage, type Command, done, textFlags, warned, withProblems } from '../command.js';
import { readOperatorText } from '../flags.js';
import { withProgress } from '../progress.js';
import { invoiceRowsUpTo } from '../rows-behind.js';

/** `noteReader` loads what reads the XML of notes. XML files are named relative to the folder of the imported file. */
export const importCommand = (noteReader: () => Promise<NoteFiles['readNote']>): Command => ({
  name: 'invoice import',
  positionals: ['FILE.ndjson'],
  summary: 'take over invoices made elsewhere, one JSON object a line, all or nothing',
  options: {
    'other-sale': {
      multiple: true,
      value: 'KEY',
      help: 'the access key of a note under the number of an invoice that you have compared, and that is of another sale',
    },
    check: { help: 'check the file as the import does, and import nothing' },
  },
  changes: true,
  run: async ({ positionals: [file = ''], flags, actor, session, terminal }) => {
    const otherSales = textFlags(flags, 'other-sale');
    if (!otherSales.every(isAccessKey)) return badUsage('--other-sale is the 50 characters of a note');
    const isCheck = flags.check === true;
    const read = await readOperatorText(file);
    if ('problem' in read) return badUsage(read.problem);
    const opened = await session(isCheck ? { onlyExisting: true } : undefined);
    const deps = {
      ...opened.companyDeps(actor),
      readModel: opened.readModel,
      supportReads: opened.supportReads,
      log: opened.log,
      keys: opened.importedKeys,
      invoiceRowsUpTo: () => invoiceRowsUpTo(opened),
      keySeconds: opened.keySeconds,
      testRetentionSeconds: opened.testRetentionSeconds,
      readXml: (name: string) => readSmallFile(resolve(dirname(file), name), MAX_XML_BYTES).catch(() => undefined),
      readNote: await noteReader(),
      otherSales,
      isCheck,
    };
    const result = await withProgress(
      terminal,
      (show) =>
        importInvoices(read.text, {
          ...deps,
          onLines: (part, lines, of) => show(part, lines / of, `${lines} of ${counted(of, 'line')}`),
        }),
      terminal.err,
    );
    if ('problems' in result) {
      const { all, shown } = result.problems;
      return withProblems(isCheck ? `${file} cannot be imported:` : `${file} was not imported:`, all, shown);
    }
    const { imported, already, warnings, refused: forestalled } = result;
    if (isCheck) {
      const told = `${counted(imported, 'invoice')} to import, ${already} were there already; nothing was changed`;
      return done(warned(told, warnings.shown), { ok: true, to_import: imported, already, warnings: warnings.all });
    }
    const told = `${counted(imported, 'invoice')} imported, ${already} were there already`;
    const json = { imported, already, warnings: warnings.all };
    if (forestalled.all.length === 0) return done(warned(told, warnings.shown), json);
    const headline = `${file} was imported but for these lines (${told}):`;
    const { exit, text } = withProblems(headline, forestalled.all, forestalled.shown);
    return {
      exit,
      text: warned(text, warnings.shown),
      json: { error: headline.slice(0, -1), problems: forestalled.all, ...json },
    };
  },
});

/** Undefined for anything but a file of at most `maxBytes`: a pipe could wait without end, and a device has no end. */
const readSmallFile = async (path: string, maxBytes: number): Promise<Buffer | undefined> => {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await handle.stat();
    return found.isFile() && found.size <= maxBytes ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
};
