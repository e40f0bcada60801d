import type { Instant } from '../../domain/common/time.js';
import { counted } from '../../lib/counted.js';
import { badUsage, type Command, done, type Outcome, refused, textFlag } from '../command.js';
import { type ShowProgress, withProgress } from '../progress.js';
import { STARTING_POINT } from '../starting-point.js';

export const backupCommand: Command = {
  name: 'backup',
  summary: 'copy the embedded database into a new folder while the service runs',
  options: {
    out: { value: 'FOLDER', help: 'the new folder', required: true },
    'with-master-key': { help: 'copy the master key too: the folder alone then opens everything' },
  },
  changes: false,
  needsDatabase: true,
  run: async ({ flags, session, terminal }) => {
    const folder = textFlag(flags, 'out') ?? '';
    if (folder === '-') return badUsage('--out names a new folder');
    const opened = await session();
    const withMasterKey = flags['with-master-key'] === true;
    const result = await withProgress(terminal, (progress) =>
      opened.backup({ folder, withMasterKey, onProgress: shownRows(progress) }),
    );
    if ('refused' in result) return refused(result.refused);
    const { tables, rows, events, masterKey } = result.done;
    const text = [
      `${counted(rows, 'row')} of ${counted(tables, 'table')} are in ${folder}`,
      events === undefined
        ? 'The event log is NOT in it: EVENTSTORE_URL names a separate engine, which has its own backup.'
        : `with all ${counted(events, 'event')} of the log.`,
      masterKey === 'absent' ? WITHOUT_KEY : WITH_KEY,
    ];
    return done(text.join('\n'), result.done);
  },
};

const shownRows = (progress: ShowProgress) => (table: string, rows: number) => progress(table, 1, counted(rows, 'row'));

const WITHOUT_KEY =
  'THE MASTER KEY IS NOT IN IT. Keep a copy of its file elsewhere: without it no certificate and no personal field of this backup can ever be opened.';

const WITH_KEY =
  'THE MASTER KEY IS IN IT: anyone with this folder can open every certificate and every personal field. Keep it encrypted.';

/** Whether a key of the key file confirms the backup. `unproven`: the MAC holds under a key that an earlier restore took from a backup. */
export type Authenticity = 'confirmed' | 'unproven' | 'no_mac' | 'no_key';

export type Restored = {
  rows: number;
  events?: number;
  paused: boolean;
  masterKeyThere: boolean;
  /** Why the service does not start with the key file that is there. */
  masterKeyFault?: string;
  authenticity: Authenticity;
  madeAt: Instant;
};

/** What was restored, or one line why nothing was. */
type RestoreOutcome =
  | {
      done: Restored;
      masterKeyFile: string;
      into: { data_dir: string } | { database: string };
    }
  | { refused: string };

/** Needs no session: the database does not exist before the restore. */
export type Restore = (from: string, onProgress: (table: string, rows: number) => void) => Promise<RestoreOutcome>;

export const restoreCommand = (restore: Restore): Command => ({
  name: 'restore',
  summary:
    'restore a backup of the embedded database into an empty DATA_DIR, or an empty database of DATABASE_URL; issuing is paused then',
  options: {
    from: { value: 'FOLDER', help: 'the folder of the backup' },
    mark: {
      help: 'the database or the log was restored by other means: only pause issuing until doctor --reconcile',
    },
  },
  changes: true,
  run: async ({ flags, session, terminal }) => {
    const from = textFlag(flags, 'from');
    if ((from === undefined) === (flags.mark !== true)) return badUsage('either --from FOLDER or --mark is required');
    if (from === undefined) {
      await (await session()).markRestored();
      return done(`${PAUSED}: ${NEXT}\n${NAME_WHAT_CHANGED}\n${AS_OF_THE_BACKUP}`, { paused: true });
    }
    const result = await withProgress(terminal, (progress) => restore(from, shownRows(progress)));
    return 'refused' in result ? refused(result.refused) : restoredOutcome(result);
  },
});

/** A revocation that the log has lost does not hold any more, and nothing can tell which those were. */
export const AS_OF_THE_BACKUP =
  'API keys, companies and the switch of the API are as of the backup: a key that was revoked later is valid again (nfse key list CNPJ, nfse key revoke ID)';

/** The log has forgotten these numbers, and the authorizer tells only of numbers that it is asked for. */
export const NAME_WHAT_CHANGED = `A series, next number or city that nfse company put recorded after the backup must be named before issuing resumes, with the number that was put then: nfse doctor --reconcile --from ${STARTING_POINT}. company put alone does not do: a later number does not show where the notes begin.`;

/** A process looks for a pause once a second. */
const PAUSED = 'issuing is paused; a service that runs sees it within 2 seconds';

const NEXT = 'start the service, then nfse doctor --reconcile';

const pauseOf = (isLogElsewhere: boolean): string =>
  isLogElsewhere
    ? `Issuing stays paused, as when the backup was made, because the event log had lost its end: ${NEXT}. If the newer log is back in its place, docs/operations/lost-database.md ends the pause.`
    : `Issuing is paused, because the authorizer may hold more notes than this log: ${NEXT}.`;

const NOT_CONFIRMED: Readonly<Record<Exclude<Authenticity, 'confirmed'>, string>> = {
  no_mac: 'it has no MAC: an earlier version made it, or somebody took the MAC out.',
  unproven:
    'its MAC holds, and an earlier restore took the key of the MAC from a backup. Whoever wrote that backup may have written this one. A restore beside your own copy of the key file, without the file .from-backup beside that copy, checks the backup.',
  no_key:
    'the key of its MAC was not in the key file before the restore. A restore beside that file checks the backup.',
};

/** An event of the log that another person wrote is as good as one of ours, so an API key in a changed backup is valid. */
const notConfirmed = (why: keyof typeof NOT_CONFIRMED): string =>
  `NOTHING CONFIRMS THE BACKUP: ${NOT_CONFIRMED[why]} Whoever could write to its folder may have changed rows, and an API key that was added acts as your client. So before nfse doctor --reconcile look at nfse key list CNPJ of each company, and revoke each key that you do not know (nfse key revoke ID).`;

const restoredOutcome = ({
  done: restored,
  masterKeyFile,
  into,
}: Extract<RestoreOutcome, { into: object }>): Outcome => {
  const { rows, events, paused, masterKeyThere, masterKeyFault, authenticity, madeAt } = restored;
  const ofThem = events === undefined ? '' : `, ${counted(events, 'event')} of the log among them,`;
  const lines = [
    `${counted(rows, 'row')}${ofThem} as of ${madeAt} are in ${'database' in into ? `the database ${into.database}` : into.data_dir}`,
    ...(authenticity === 'confirmed' ? [] : [notConfirmed(authenticity)]),
    ...(masterKeyThere
      ? []
      : [`THE MASTER KEY IS MISSING: put your copy at ${masterKeyFile}, mode 0600, before the start.`]),
    ...(masterKeyFault === undefined
      ? []
      : [`THE MASTER KEY IS NOT THAT OF THE BACKUP, and the service does not start with it: ${masterKeyFault}`]),
    ...(events === undefined
      ? ['The event log was not in the backup: missing rows are built from it at the start.']
      : []),
    ...(paused ? [pauseOf(events === undefined), NAME_WHAT_CHANGED] : []),
    ...(events === undefined ? [] : [AS_OF_THE_BACKUP]),
  ];
  return done(lines.join('\n'), { ...restored, ...into });
};
