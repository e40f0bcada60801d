import { badUsage, type Command, done, refused, textFlag } from '../command.js';
import { createProgress, type ProgressStream } from '../progress.js';
import { counted } from '../text.js';

const backup = (stream: ProgressStream): Command => ({
  name: 'backup',
  positionals: [],
  summary: 'copy the embedded database into a new folder while the service runs',
  options: {
    out: { type: 'string', help: 'the new folder; required' },
    'with-master-key': { type: 'boolean', help: 'copy the master key too: whoever has the folder reads everything' },
  },
  changes: false,
  run: async ({ flags, session }) => {
    const folder = textFlag(flags, 'out');
    if (folder === undefined) return badUsage('--out is required: a new folder');
    const progress = createProgress(stream);
    const result = await (await session()).backup({
      folder,
      withMasterKey: flags['with-master-key'] === true,
      onProgress: (table, rows) => progress.show(table, 1, counted(rows, 'row')),
    });
    progress.end();
    if ('refused' in result) return refused(result.refused);
    const { tables, rows, events, masterKey } = result.done;
    const text = [
      `${counted(rows, 'row')} of ${counted(tables, 'table')} are in ${folder}`,
      events === undefined
        ? 'The event log is NOT in it: EVENTSTORE_URL names an engine of its own, which has its own backup.'
        : `with all ${counted(events, 'event')} of the log.`,
      masterKey === 'absent' ? WITHOUT_KEY : WITH_KEY,
    ];
    return done(text.join('\n'), result.done);
  },
});

export const backupCommands = (stream: ProgressStream): readonly Command[] => [backup(stream)];

const WITHOUT_KEY =
  'THE MASTER KEY IS NOT IN IT. Keep a copy of its file elsewhere: without it no certificate and no personal field of this backup can ever be opened.';

const WITH_KEY =
  'THE MASTER KEY IS IN IT: whoever has this folder can open every certificate and every personal field. Keep it encrypted.';
