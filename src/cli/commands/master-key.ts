import { type Command, done, refused } from '../command.js';
import { createProgress, type ProgressStream } from '../progress.js';
import type { MasterKeyGeneration } from '../session.js';
import { counted } from '../text.js';

const status: Command = {
  name: 'master-key status',
  positionals: [],
  summary: 'the generations of the master key: which seals, which only open, which waits, which is lost',
  options: {},
  changes: false,
  run: async ({ session }) => {
    const generations = await (await session()).masterKey.status();
    return done(generations.map(lineOf).join('\n'), { generations: generations.map(jsonOf) });
  },
};

const rotate = (stream: ProgressStream): Command => ({
  name: 'master-key rotate',
  positionals: [],
  summary: 'seal with the newest generation of the key file from now on, and put certificates under it',
  options: {},
  changes: true,
  run: async ({ actor, session }) => {
    const { masterKey } = await session();
    const progress = createProgress(stream);
    const result = await masterKey
      .rotate(actor, ({ done: rows, of }) => progress.show('sealing anew', rows / of, `${rows} of ${of}`))
      .finally(() => progress.end());
    if ('refused' in result) return refused(result.refused);
    const { generation, resealed } = result.done;
    return done(
      `${generation} seals from now on; ${counted(resealed, 'certificate or day key was', 'certificates and day keys were')} put under it. Keep the older generations: live events need them for ever`,
      { actor, ...result.done },
    );
  },
});

/** Who reads a service's engines; the key file itself is made longer by a command that needs none. */
export const masterKeyCommands = (stream: ProgressStream): readonly Command[] => [status, rotate(stream)];

const WORDS: Record<MasterKeyGeneration['state'], string> = {
  sealing: 'seals',
  opening: 'opens what it sealed',
  waiting: 'waits: nfse master-key rotate',
  lost: 'LOST: restore its line in the key file',
  given_up: 'given up: what it sealed stays closed',
};

const lineOf = ({
  generation,
  keyId,
  state,
  certificates,
  dayKeys,
  activatedAt,
  ...rest
}: MasterKeyGeneration): string =>
  [
    `${generation.padEnd(4)} ${keyId}  ${WORDS[state]}`,
    `${counted(certificates, 'certificate')} and ${counted(dayKeys, 'day key')} are under it`,
    ...(activatedAt === undefined ? [] : [`since ${activatedAt}`]),
    ...(rest.givenUpAt === undefined ? [] : [`until ${rest.givenUpAt}`]),
  ].join('; ');

const jsonOf = ({ keyId, dayKeys, activatedAt, activatedBy, givenUpAt, ...rest }: MasterKeyGeneration) => ({
  ...rest,
  key_id: keyId,
  day_keys: dayKeys,
  ...(activatedAt === undefined ? {} : { activated_at: activatedAt }),
  ...(activatedBy === undefined ? {} : { activated_by: activatedBy }),
  ...(givenUpAt === undefined ? {} : { given_up_at: givenUpAt }),
});
