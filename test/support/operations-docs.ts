import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type Page = { name: string; text: string };

/** A command `nfse …` as a person would type it, without the text around it. */
type CommandLine = { page: string; line: string; words: readonly string[] };

const root = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = 'docs/operations';

/** The handbook, the README and the first steps. */
export const operationsPages = (): readonly Page[] =>
  ['README.md', 'docs/first-steps.md', ...readdirSync(`${root}/${FOLDER}`).map((file) => `${FOLDER}/${file}`)]
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ name, text: readFileSync(`${root}/${name}`, 'utf8') }));

/** In code: blocks by line (a backslash joins two), and between backquotes. */
const codeOf = (text: string): readonly string[] => {
  const blocks = [...text.matchAll(/^( *)```\w*\n([\s\S]*?)^\1```$/gm)].flatMap(([, , body = '']) =>
    body.replaceAll(/\\\n\s*/g, '').split('\n'),
  );
  const prose = text.replaceAll(/^( *)```\w*\n[\s\S]*?^\1```$/gm, '');
  return [...blocks, ...[...prose.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '))];
};

const PROGRAM = String.raw`npm run -s nfse --|docker compose run (?:(?:-v \S+|-\S+) )*nfse|nfse`;
const START = new RegExp(String.raw`^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:${PROGRAM}) +(?=[a-z])`);

/** Every command line of a page; a comment behind it, and what a pipe or a semicolon begins, are not part of it. */
export const commandLinesOf = ({ name, text }: Page): readonly CommandLine[] =>
  codeOf(text).flatMap((line) => {
    const at = START.exec(line);
    if (at === null || /--entrypoint/.test(line)) return [];
    const [typed = ''] = line.slice(at.index + at[0].length).split(/\s+#|[;|>&)]/);
    return [
      {
        page: name,
        line,
        words: typed
          .trim()
          .split(/\s+/)
          .map((word) => word.replaceAll(/^["']|["']$/g, '')),
      },
    ];
  });

/** The second column of the table of commands in docs/cli.md. */
export const examplesOf = ({ name, text }: Page): readonly CommandLine[] =>
  [...text.matchAll(/^\| \[[a-z][^|]*\| `([a-z][^`|]*)` \|/gm)].map(([line, typed = '']) => ({
    page: name,
    line,
    words: typed.split(' '),
  }));

/** Every `NAME=value` of code, and every name in capitals with an underscore between backquotes. */
export const variablesOf = ({ text }: Page): readonly string[] =>
  codeOf(text).flatMap((code) => [
    ...[...code.matchAll(/(?:^|[\s])([A-Z][A-Z_]+)=/g)].map(([, variable = '']) => variable),
    ...(/^[A-Z]+(?:_[A-Z]+)+$/.test(code) ? [code] : []),
  ]);
