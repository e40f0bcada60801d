import { groupedBy } from '../../lib/grouped-by.js';
import { badUsage, type Command, done } from '../command.js';
import { optionsOf } from '../program.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `commands` gives all commands; it is asked when the script is made. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  positionals: ['SHELL'],
  summary: 'print a script that completes commands and options in bash, zsh or fish',
  changes: false,
  run: async ({ positionals: [shell = ''] }) => {
    const wanted = SHELLS.find((one) => one === shell);
    if (wanted === undefined) return badUsage(`SHELL must be one of ${SHELLS.join(', ')}`);
    const script = wanted === 'fish' ? fishScript(commands()) : bashScript(commands(), wanted);
    return done(script, { shell: wanted, script });
  },
});

/** What may follow each beginning: the words of a group, and the options of a command. */
const followers = (commands: readonly Command[]): ReadonlyMap<string, readonly string[]> => {
  const words = new Map<string, string[]>([['', ['help', '--help', '--version']]]);
  const add = (beginning: string, word: string): void => {
    const known = words.get(beginning) ?? [];
    if (!known.includes(word)) words.set(beginning, [...known, word]);
  };
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ');
    add('', first);
    if (second !== undefined) add(first, second);
    for (const option of [...Object.keys(optionsOf(command)), 'help']) add(command.name, `--${option}`);
  }
  return words;
};

const bashScript = (commands: readonly Command[], shell: 'bash' | 'zsh'): string => {
  const all = [...followers(commands)];
  const caseOf = (pairs: readonly (readonly [string, readonly string[]])[]): readonly string[] =>
    pairs.map(([beginning, words]) => `      '${beginning}') words='${words.join(' ')}' ;;`);
  const ofOneWord = all.filter(([beginning]) => beginning !== '' && !beginning.includes(' '));
  return [
    ...(shell === 'zsh' ? ['autoload -U +X compinit && compinit', 'autoload -U +X bashcompinit && bashcompinit'] : []),
    `_nfse() {
  local words="" current="\${COMP_WORDS[COMP_CWORD]}" beginning="\${COMP_WORDS[*]:1:2}"
  [ "$COMP_CWORD" -le 2 ] && beginning="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  case "$beginning" in`,
    ...caseOf(all),
    `      *) case "\${beginning%% *}" in`,
    ...caseOf(ofOneWord),
    `      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _nfse nfse`,
  ].join('\n');
};

const fishScript = (commands: readonly Command[]): string => {
  const groups = groupedBy(commands, ({ name }) => name.replace(/ .*/, ''));
  const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  return [...groups]
    .flatMap(([first, members]) => [
      `complete -c nfse -n __fish_use_subcommand -a ${first} -d ${quoted(members[0].summary)}`,
      ...members.flatMap((command) => {
        const [, second] = command.name.split(' ');
        const seen = second === undefined ? first : second;
        return [
          ...(second === undefined
            ? []
            : [
                `complete -c nfse -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(command.summary)}`,
              ]),
          ...Object.entries(optionsOf(command)).map(
            ([name, { help, value }]) =>
              `complete -c nfse -n '__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${seen}' -l ${name}${value === undefined ? '' : ' -r'} -d ${quoted(help)}`,
          ),
        ];
      }),
    ])
    .join('\n');
};
