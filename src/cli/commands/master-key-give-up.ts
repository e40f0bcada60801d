import { badUsage, type Command, done, type Outcome, refused, textFlag } from '../command.js';
import { counted } from '../text.js';

/** What was taken out of the vault with the generation, by name, or one line why nothing was done. */
export type GivenUp =
  | {
      done: {
        generation: string;
        sealing: string;
        certificates: readonly string[];
        dayKeys: readonly string[];
        signingKeys: readonly string[];
      };
    }
  | { refused: string };

/** Needs no session: the engines do not open while a generation is missing. */
export type GiveUp = (generation: string, why: { actor: string; reason: string }) => Promise<GivenUp>;

const giveUpCommand = (giveUp: GiveUp): Command => ({
  name: 'master-key give-up',
  positionals: ['GENERATION'],
  summary: 'a generation is lost and no copy is left: take out what only it opened, and start without it',
  options: {
    reason: { type: 'string', help: 'how it was lost and where was looked for a copy; required, kept in the log' },
    confirm: { type: 'string', help: 'the generation again: what it sealed stays closed for ever' },
  },
  changes: true,
  run: async ({ positionals: [generation = ''], flags, actor }) => {
    const reason = textFlag(flags, 'reason')?.trim() ?? '';
    if (reason === '') return badUsage('--reason must say how it was lost, and where was looked for a copy');
    if (textFlag(flags, 'confirm') !== generation)
      return badUsage(
        `what ${generation} sealed stays closed for ever: read docs/operations/keys.md, then add --confirm ${generation}`,
      );
    const result = await giveUp(generation, { actor, reason });
    return 'refused' in result ? refused(result.refused) : told(result.done, actor);
  },
});

export const giveUpCommands = (giveUp: GiveUp): readonly Command[] => [giveUpCommand(giveUp)];

const told = (
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
    ...taken.flatMap(({ names, what }) => [`${what} taken out`, ...names.map((name) => `  ${name}`)]),
    ...(certificates.length === 0
      ? []
      : ['Before the start: nfse certificate put CNPJ --pfx FILE --password-file FILE for each company']),
  ];
  return done(lines.join('\n'), {
    ...{ actor, generation, sealing, certificates },
    ...{ day_keys: dayKeys, signing_keys: signingKeys },
  });
};
