import type { Instant } from '../../domain/common/time.js';
import { counted } from '../../lib/counted.js';
import type { MasterKeyGeneration } from '../../ports/master-keys.js';
import { badUsage, type Command, done, type Outcome, refused, textFlag } from '../command.js';
import { withProgress } from '../progress.js';
import { putCertificateCommand } from './certificate.js';

const status: Command = {
  name: 'master-key status',
  summary: 'the generations of the master key and their state',
  changes: false,
  run: async ({ session }) => {
    const generations = await (await session()).masterKey.status();
    return done(generations.map(lineOf).join('\n'), { generations: generations.map(jsonOf) });
  },
};

const rotate: Command = {
  name: 'master-key rotate',
  summary: 'seal with the newest generation of the key file from now on, and seal certificates and keys again with it',
  changes: true,
  run: async ({ actor, session, terminal }) => {
    const { masterKey } = await session();
    const result = await withProgress(terminal, (progress) =>
      masterKey.rotate(actor, ({ done: rows, of }) => progress('sealing again', rows / of, `${rows} of ${of}`)),
    );
    if ('refused' in result) return refused(result.refused);
    const { generation, resealed } = result.done;
    return done(
      `${generation} seals from now on; ${counted(resealed, 'certificate or key was', 'certificates and keys were')} re-sealed with it. Keep the older generations permanently: live events need them`,
      { actor, ...result.done },
    );
  },
};

/** Commands that need the service's engines. `master-key add` only needs the key file and is separate. */
export const masterKeyCommands: readonly Command[] = [status, rotate];

const WORDS: Record<MasterKeyGeneration['state'], string> = {
  sealing: 'seals',
  opening: 'opens what it sealed',
  waiting: 'waits: nfse master-key rotate',
  lost: 'LOST: restore its line in the key file',
  given_up: 'given up: what it sealed stays closed',
};

const STRAY = ' (the key file holds another key under this name, which is not used)';

const lineOf = (one: MasterKeyGeneration): string =>
  [
    `${one.generation.padEnd(4)} ${one.keyId}  ${WORDS[one.state]}${one.hasStrayLine ? STRAY : ''}`,
    `${counted(one.certificates, 'certificate')}, ${counted(one.dayKeys, 'day key')} and ${counted(one.signingKeys, 'signing key')} are under it`,
    ...(one.activatedAt === undefined ? [] : [`since ${one.activatedAt}`]),
    ...(one.givenUpAt === undefined ? [] : [`until ${one.givenUpAt}`]),
  ].join('; ');

const jsonOf = ({
  keyId,
  dayKeys,
  signingKeys,
  activatedAt,
  activatedBy,
  givenUpAt,
  hasStrayLine,
  ...rest
}: MasterKeyGeneration) => ({
  ...rest,
  key_id: keyId,
  day_keys: dayKeys,
  signing_keys: signingKeys,
  activated_at: activatedAt,
  activated_by: activatedBy,
  given_up_at: givenUpAt,
  has_stray_line: hasStrayLine,
});

/** What was removed from the vault with the generation, by name, or one line why nothing was done. */
type GivenUp =
  | {
      done: {
        generation: string;
        sealing: string;
        certificates: readonly string[];
        dayKeys: readonly string[];
        signingKeys: readonly string[];
      };
    }
  | { already: { generation: string; givenUpAt: Instant; sealing: string | undefined } }
  | { refused: string };

/** Needs no session: the engines do not open while a generation is missing. */
export type GiveUp = (generation: string, why: { actor: string; reason: string }) => Promise<GivenUp>;

export const giveUpCommand = (giveUp: GiveUp): Command => ({
  name: 'master-key give-up',
  positionals: ['GENERATION'],
  summary: 'a generation is lost and no copy is left: remove what only it opened, and start without it',
  options: {
    reason: {
      value: 'TEXT',
      help: 'how it was lost and where you searched for a copy; kept in the log',
      required: true,
    },
    confirm: { value: 'NAME', help: 'the generation again: what it sealed can never be opened again' },
  },
  changes: true,
  run: async ({ positionals: [generation = ''], flags, actor, terminal }) => {
    // A signal does not end the process at once, so that the database is stopped where this command has started it.
    terminal.untilInterrupted?.();
    const reason = textFlag(flags, 'reason')?.trim() ?? '';
    if (reason === '') return badUsage('--reason must say how it was lost, and where you searched for a copy');
    if (textFlag(flags, 'confirm') !== generation)
      return badUsage(
        `what ${generation} sealed can never be opened again: read docs/operations/keys.md, then add --confirm ${generation}`,
      );
    const result = await giveUp(generation, { actor, reason });
    if ('refused' in result) return refused(result.refused);
    return 'already' in result ? alreadyOutcome(result.already, actor) : givenUpOutcome(result.done, actor);
  },
});

/** No table holds what the first call removed. */
const alreadyOutcome = (
  { generation, givenUpAt, sealing }: Extract<GivenUp, { already: unknown }>['already'],
  actor: string,
): Outcome => {
  const seals =
    sealing === undefined
      ? 'no active generation is in the key file, and nfse master-key status says which is missing'
      : `${sealing} seals`;
  return done(
    `${generation} was given up already, at ${givenUpAt}; ${seals}. nfse doctor names each company whose certificate is missing`,
    { actor, generation, given_up_at: givenUpAt, ...(sealing === undefined ? {} : { sealing }), changed: false },
  );
};

const givenUpOutcome = (
  { generation, sealing, certificates, dayKeys, signingKeys }: Extract<GivenUp, { done: unknown }>['done'],
  actor: string,
): Outcome => {
  const taken = [
    { names: certificates, what: counted(certificates.length, 'certificate') },
    { names: dayKeys, what: counted(dayKeys.length, 'key of a test day', 'keys of test days') },
    { names: signingKeys, what: counted(signingKeys.length, 'signing key of exports', 'signing keys of exports') },
  ];
  const lines = [
    `${generation} is given up, ${sealing} seals from now on`,
    ...taken.flatMap(({ names, what }) => [`${what} removed`, ...names.map((name) => `  ${name}`)]),
    ...(certificates.length === 0 ? [] : [`Before the start: ${putCertificateCommand('CNPJ')} for each company`]),
  ];
  return done(lines.join('\n'), {
    actor,
    generation,
    sealing,
    certificates,
    day_keys: dayKeys,
    signing_keys: signingKeys,
  });
};
