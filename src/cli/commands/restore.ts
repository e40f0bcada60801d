import { badUsage, type Command, done, type Outcome, refused, textFlag } from '../command.js';
import { createProgress, type ProgressStream } from '../progress.js';
import { counted } from '../text.js';

/** What was put back, or one line why nothing was. */
export type RestoreOutcome =
  | {
      done: { rows: number; events?: number; paused: boolean; masterKeyThere: boolean; madeAt: string };
      dataDir: string;
      masterKeyFile: string;
    }
  | { refused: string };

/** Needs no session: the database that it makes is not there yet. */
export type Restore = (from: string, onProgress: (table: string, rows: number) => void) => Promise<RestoreOutcome>;

const restore = (putBack: Restore, stream: ProgressStream): Command => ({
  name: 'restore',
  positionals: [],
  summary: 'put a backup of the embedded database back into an empty DATA_DIR; issuing is paused then',
  options: {
    from: { type: 'string', help: 'the folder of the backup' },
    mark: {
      type: 'boolean',
      help: 'the database or the log was put back by other means: only pause issuing until doctor --reconcile',
    },
  },
  changes: true,
  run: async ({ flags, session }) => {
    const from = textFlag(flags, 'from');
    if ((from === undefined) === (flags.mark !== true)) return badUsage('either --from DIR or --mark is required');
    if (from === undefined) {
      await (await session()).markRestored();
      return done(`issuing is paused: ${NEXT}`, { paused: true });
    }
    const progress = createProgress(stream);
    const result = await putBack(from, (table, rows) => progress.show(table, 1, counted(rows, 'row')));
    progress.end();
    return 'refused' in result ? refused(result.refused) : told(result);
  },
});

export const restoreCommands = (putBack: Restore, stream: ProgressStream): readonly Command[] => [
  restore(putBack, stream),
];

const NEXT = 'start the service, then nfse doctor --reconcile';

const told = ({ done: restored, dataDir, masterKeyFile }: Extract<RestoreOutcome, { dataDir: string }>): Outcome => {
  const { rows, events, paused, masterKeyThere, madeAt } = restored;
  const ofThem = events === undefined ? '' : `, ${counted(events, 'event')} of the log among them,`;
  const lines = [
    `${counted(rows, 'row')}${ofThem} as of ${madeAt} are in ${dataDir}`,
    ...(masterKeyThere
      ? []
      : [`THE MASTER KEY IS MISSING: put your copy at ${masterKeyFile}, mode 0600, before the start.`]),
    paused
      ? `Issuing is paused, for the authorizer may know of more than this log: ${NEXT}.`
      : 'The event log was not in the backup: what the database lacks is made from it at the start.',
  ];
  return done(lines.join('\n'), { ...restored, data_dir: dataDir });
};
