import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, normalize } from 'node:path';
import { requirementsOf } from '../tools/contract-pages.js';

type TextFile = { path: string; text: string };

/** What a reference may name: every file and folder by its path from the root, and the texts of the files among them that are read. */
export type Repository = { paths: ReadonlySet<string>; texts: ReadonlyMap<string, string> };

const FOLDERS = ['src', 'projections', 'test', 'docs', '.ci'];
const PAGES = ['README.md', 'SECURITY.md', 'CHANGELOG.md'];
const IS_TEXT = /(?:\.(?:ts|mts|mjs|js|md|ya?ml|sh)|^\.ci\/run)$/;

/** Stored bytes, generated lists, and this check with its planted breaches. */
const NOT_READ =
  /^test\/golden\/(?:events|hash)\/|^docs\/supply-chain\/|^test\/architecture\/references(?:\.test)?\.ts$/;

export const repositoryAt = (root: string): { repository: Repository; files: readonly TextFile[] } => {
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const paths = new Set([...FOLDERS, ...below, ...readdirSync(root)]);
  const files = [...below, ...PAGES]
    .filter((path) => IS_TEXT.test(path) && !NOT_READ.test(path) && statSync(join(root, path)).isFile())
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  return { repository: { paths, texts }, files };
};

/** A blank inside a comment or a paragraph, also where a line ends. */
const BLANK = '(?: |\\s*\\n\\s*(?:\\*|//)?\\s*)';

/** Names of documents that are not in the repository. */
const NOWHERE = new RegExp(
  [
    '\\breadings? \\d+',
    '\\bthe design\\b',
    '\\bdeviations? \\d+',
    '\\bissues? #?\\d+\\b',
    '\\bspec\\b(?!\\.ts|:)',
    "\\bdesign(?:'s)?(?: |, | ?\\()section",
    '\\bdesign(?:\\.md)?(?: section)? \\d+',
    '\\b(?:design|domain|interface|readings|interface-specification)\\.md\\b',
    '\\bshared/',
  ]
    .join('|')
    .replaceAll(' ', BLANK),
  'gi',
);

/** Where the official documents may be that tests compare with: their paths are input, no citation. */
const READS_BESIDE = 'test/support/fixture/samples.ts';

const IMPORT = /^\s*(?:import|export)\b.*|\bfrom '[^']*'|\bimport\('[^']*'\)/gm;

const nowhereIn = ({ path, text }: TextFile): readonly string[] =>
  [...text.replace(IMPORT, blanked).matchAll(NOWHERE)]
    .filter(([name]) => !(path === READS_BESIDE && name === 'shared/'))
    .map(
      ({ index, 0: name }) => `${path}:${lineAt(text, index)}: nothing in the repository is called "${oneLine(name)}"`,
    );

/** As long as before and with the same lines, so that places in it stay what they are. */
const blanked = (text: string): string => text.replace(/[^\n]/g, ' ');

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;

const oneLine = (text: string): string => text.replace(new RegExp(BLANK, 'g'), ' ');

const linesOf = (path: string, text: string): readonly { at: string; line: string }[] =>
  text.split('\n').map((line, index) => ({ at: `${path}:${index + 1}`, line }));

/**
 * A page below `docs`, README, SECURITY or CHANGELOG, as comments and texts cite them: alone, with a section by its anchor, or with a section by
 * its heading in quotes.
 */
const CITED_PAGE = /(?<![\w./-])((?:docs\/[\w./-]+|README|SECURITY|CHANGELOG)\.md)(?:#([\w%-]*\w)|, "([^"]+)")?/g;

/** `[text](target)` and `![alt](target)`; addresses of the web are not looked at. */
const MARKDOWN_LINK = /\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)/g;

/** A path in backticks that begins at a folder of the repository; what holds a placeholder or a pattern is not looked at. */
const CITED_PATH = /`((?:src|projections|test|docs|\.ci)\/[\w./-]+)`/g;

/** A name of the code in backticks, with its file: `workOn` of `src/app/issuing/protocol.ts`. The line may end between the two. */
const CITED_NAME = new RegExp(
  '`(\\w+)`(?: \\([^)`]*\\))?BLANK(?:of|in)BLANK`((?:src|projections|test|docs|\\.ci)/[\\w./-]+)`'.replaceAll(
    'BLANK',
    BLANK,
  ),
  'g',
);

/** A source in backticks by its name alone, as decisions name files of a folder that their text names. */
const CITED_SOURCE = /`([\w-]+(?:\.[\w-]+)*\.ts)`/g;

/** The projection that `docs/projections.md` builds as an example. */
const EXAMPLE = 'projections/issued-notes/';

const CITED_ADR = /\bADRs? (\d+(?:(?:, | and | or | to )(?:ADR )?\d+)*)/g;

/** Ids such as `POST-description` or `CODE-nfse.not_issued`. A `*` behind a stem means all ids that begin so. */
const CITED_ID = /(?<![\w/$.%-])([A-Z]{2,})-([A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)*)([._-]?\*)?/g;

const COMMENT = /\/\*\*?[\s\S]*?\*\/|(?<![:'"`\\/])\/\/.*$/gm;
const TITLE = /\b(?:describe|it|test)(?:\.\w+)*(?:\([^\n]*?\))?\((['`"]).*?\1/g;

/** Of code only comments and the titles of tests cite; everything else keeps its length, so that line numbers stay. */
const citing = ({ path, text }: TextFile): string => {
  if (!/\.[mc]?[jt]s$/.test(path)) return text;
  const kept = [...text.matchAll(COMMENT), ...(path.startsWith('test/') ? text.matchAll(TITLE) : [])];
  const out = blanked(text).split('');
  for (const { index, 0: part } of kept) for (let i = 0; i < part.length; i += 1) out[index + i] = part.charAt(i);
  return out.join('');
};

const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (markdown: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  const anchors = new Set([...markdown.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = '']) => id));
  for (const [, heading = ''] of markdown.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.+?) *$/gm)) {
    const slug = slugOf(heading);
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
  }
  return anchors;
};

const pageFault = (page: string, anchor: string | undefined, { paths, texts }: Repository): string | undefined => {
  if (!paths.has(page)) return `there is no ${page}`;
  const text = texts.get(page);
  if (anchor === undefined || text === undefined || !page.endsWith('.md') || anchorsOf(text).has(anchor))
    return undefined;
  return `${page} has no section #${anchor}`;
};

const linkFault = (from: string, target: string, anchor: string | undefined, repository: Repository) => {
  const page = target === '' ? from : normalize(join(from, '..', target)).replace(/\/$/, '');
  return page.startsWith('..') ? `${target} is outside of the repository` : pageFault(page, anchor, repository);
};

const adrFaults = (numbers: string, { paths }: Repository): readonly string[] =>
  numbers
    .split(/\D+/)
    .filter((number) => number !== '')
    .filter((number) => ![...paths].some((path) => path.startsWith(`docs/adr/${number.padStart(4, '0')}-`)))
    .map((number) => `there is no ADR ${number}`);

type Contract = { ids: readonly string[]; prefixes: ReadonlySet<string> };

const contractOf = ({ texts }: Repository): Contract => {
  const ids = requirementsOf(texts.get('docs/contract.md') ?? '').map(({ id }) => id);
  return { ids, prefixes: new Set(ids.map((id) => id.slice(0, id.indexOf('-')))) };
};

const idFault = ({ ids, prefixes }: Contract, prefix: string, rest: string, wildcard: string | undefined) => {
  if (!prefixes.has(prefix)) return undefined;
  const id = `${prefix}-${rest}`;
  const known = wildcard === undefined ? ids.includes(id) : ids.some((one) => one.startsWith(id));
  return known ? undefined : `docs/contract.md has no ${id}`;
};

const deadIn = (
  file: TextFile,
  repository: Repository,
  contract: Contract,
  sources: ReadonlySet<string>,
): readonly string[] =>
  linesOf(file.path, citing(file)).flatMap(({ at, line }) => {
    const isMarkdown = file.path.endsWith('.md');
    const links = isMarkdown ? [...line.matchAll(MARKDOWN_LINK)] : [];
    const faults = [
      ...links.map(([, target = '', anchor]) => linkFault(file.path, target, anchor, repository)),
      ...[...line.replace(MARKDOWN_LINK, ']').matchAll(CITED_PAGE)].map(([, page = '', anchor, heading]) =>
        pageFault(page, heading === undefined ? anchor : slugOf(heading), repository),
      ),
      ...[...line.matchAll(CITED_PATH)].map(([, path = '']) =>
        path.startsWith(EXAMPLE) || repository.paths.has(path.replace(/\/$/, '')) ? undefined : `there is no ${path}`,
      ),
      ...(file.path.startsWith('docs/adr/') ? [...line.matchAll(CITED_SOURCE)] : []).map(([, name = '']) =>
        sources.has(name) ? undefined : `no source is called ${name}`,
      ),
      ...[...line.matchAll(CITED_ADR)].flatMap(([, numbers = '']) => adrFaults(numbers, repository)),
      ...[...line.matchAll(CITED_ID)].map(([, prefix = '', rest = '', wildcard]) =>
        idFault(contract, prefix, rest, wildcard),
      ),
    ];
    return [...new Set(faults)].filter((fault) => fault !== undefined).map((fault) => `${at}: ${fault}`);
  });

const namesIn = (file: TextFile, { texts }: Repository): readonly string[] => {
  const text = citing(file);
  return [...text.matchAll(CITED_NAME)]
    .filter(([, name, path = '']) => texts.has(path) && !new RegExp(`\\b${name}\\b`).test(texts.get(path) ?? ''))
    .map(({ index, 1: name, 2: path }) => `${file.path}:${lineAt(text, index)}: ${path} has no ${name}`);
};

/** One line for each reference to what is not in the repository, and for each link that leads nowhere; empty is good. */
export const brokenReferences = (files: readonly TextFile[], repository: Repository): readonly string[] => {
  const contract = contractOf(repository);
  const sources = new Set([...repository.paths].map((path) => basename(path)));
  return files.flatMap((file) => [
    ...nowhereIn(file),
    ...deadIn(file, repository, contract, sources),
    ...namesIn(file, repository),
  ]);
};
