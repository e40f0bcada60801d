import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { html, raw } from 'hono/html';
import type { RendererObject, Tokens } from 'marked';
import type { AssetPath } from './files.js';
import { type Html, page } from './page.js';

/** Chapters by the name in their path, with the file of `docs/guia`; a requested name is never joined to a path. */
const chapters = {
  'antes-da-primeira-nota': 'Antes da primeira nota',
  'primeiros-passos': 'Primeiros passos',
  campos: 'Campos da requisição',
  resposta: 'Campos da resposta',
  'vida-da-nota': 'A vida de uma nota',
  repetir: 'Repetir sem emitir duas vezes',
  falhas: 'Quando falha',
  cancelar: 'Cancelar',
  'fechar-o-mes': 'Fechar o mês com o contador',
  'modo-de-teste': 'Modo de teste',
  'valores-de-teste': 'Valores de teste',
  marcadores: 'Marcadores na descrição',
  exportacao: 'Exportação de serviços',
  'ibs-cbs': 'IBS e CBS: o que muda em 2027',
  'o-que-nao-faz': 'O que a API não faz',
  limites: 'Limites',
  mudancas: 'Mudanças',
} as const;

type ChapterName = keyof typeof chapters;

export const chapterNames = Object.keys(chapters) as readonly ChapterName[];

export const isChapterName = (name: string): name is ChapterName => Object.hasOwn(chapters, name);

/** The first page of the guide, with the list of its chapters. */
const FIRST = 'README';

const fileOf = (name: ChapterName | typeof FIRST): string =>
  fileURLToPath(new URL(`../../../docs/guia/${name}.md`, import.meta.url));

/** Source text of a page of the guide, which is Markdown of this repository; undefined asks for the first page. */
export const readGuide = (name: ChapterName | undefined): Promise<string> => readFile(fileOf(name ?? FIRST), 'utf8');

/** A page of the guide from its Markdown, with links to the chapters before and after. */
export const guidePage = async (name: ChapterName | undefined, markdown: string, assetPath: AssetPath): Promise<Html> =>
  page({
    title: name === undefined ? 'Guia da API' : `${chapters[name]}: guia da API`,
    assetPath,
    body: html`<nav><a href="/docs/guia">Guia</a> · <a href="/docs">Referência da API</a> · <a href="/docs/errors">Códigos de erro</a></nav>
<main>
${raw(await rendered(markdown))}</main>
${name === undefined ? '' : neighbours(name)}`,
  });

const neighbours = (name: ChapterName): Html => {
  const at = chapterNames.indexOf(name);
  const [before, after] = [chapterNames[at - 1], chapterNames[at + 1]];
  return html`<nav>${before === undefined ? '' : html`← <a href="${chapterPath(before)}">${chapters[before]}</a>`}${before !== undefined && after !== undefined ? ' · ' : ''}${after === undefined ? '' : html`<a href="${chapterPath(after)}">${chapters[after]}</a> →`}</nav>`;
};

export const chapterPath = (name: ChapterName): string => `/docs/guia/${name}`;

export const chapterTitle = (name: ChapterName): string => chapters[name];

/** Marks for the tests of the guide, which a reader does not see. */
const COMMENT = /^<!--.*-->\n+/gm;

/** The package is loaded when the first page is made, so that a start does not wait for it. */
const rendered = async (markdown: string): Promise<string> => {
  const { Marked } = await import('marked');
  return new Marked({ renderer }).parse(markdown.replace(COMMENT, ''), { async: false });
};

/** Links between files become links between pages, paths of pages become links, and headings get the ids that links name. */
const renderer: RendererObject = {
  heading({ tokens, depth, text }: Tokens.Heading) {
    return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  },
  /** Each cell carries the name of its column, which a narrow screen shows in front of it. */
  table({ header, rows }: Tokens.Table) {
    const inline = ({ tokens }: Tokens.TableCell) => this.parser.parseInline(tokens);
    const label = (at: number) => escaped((header[at]?.text ?? '').replaceAll('`', ''));
    const head = header.map((cell) => `<th>${inline(cell)}</th>`).join('');
    const row = (cells: readonly Tokens.TableCell[]) =>
      `<tr>${cells.map((cell, at) => `<td data-label="${label(at)}">${inline(cell)}</td>`).join('')}</tr>\n`;
    return `<table>\n<thead>\n<tr>${head}</tr>\n</thead>\n<tbody>${rows.map(row).join('')}</tbody></table>\n`;
  },
  codespan({ text }: Tokens.Codespan) {
    const code = `<code>${escaped(text)}</code>`;
    return SERVED.test(text) ? `<a href="${text}">${code}</a>` : code;
  },
  link({ href, tokens }: Tokens.Link) {
    return `<a href="${targetOf(href)}">${this.parser.parseInline(tokens)}</a>`;
  },
};

/** A path of these pages, which is no link in the repository. */
const SERVED = /^\/docs(?:\/[\w.]+)*$/;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** As GitHub makes them, so that a link works in both places. */
const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const targetOf = (href: string): string => {
  const [, name = '', fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return isChapterName(name) ? `${chapterPath(name)}${fragment}` : href;
};
