import { html, raw } from 'hono/html';
import type { Operator } from '../deps.js';
import type { Language } from '../language.js';
import { SCRIPT_ELEMENT } from '../script.js';
import { badge, clockText, type Html, modeText, none, type Shown, statusText, whole } from './elements.js';

/** What every page needs besides its own content. */
export type PageContext = Shown & {
  operator: Operator;
  /** True when sign-in is needed and there is no valid session. */
  isClosed: boolean;
  /** False until the log has said once how late the rows are; `behind` then names all projections that pages show. */
  isLagKnown: boolean;
  formToken: string;
  path: string;
  /** Path and query of a page that can be asked for again; undefined for the answer to a form. */
  address: string | undefined;
  language: Language;
  version: string;
  simulatedModes: readonly string[];
};

export const ROOT = '/console';

/** A link to the page of an invoice; `anchor` names a part of that page. */
export const invoiceLink = (id: string, anchor: '' | '#settle' = ''): Html =>
  html`<a href="${ROOT}/invoices/${id}${anchor}">${whole(id)}</a>`;

const PAGES: readonly (readonly [path: string, portuguese: string, english: string])[] = [
  ['', 'Visão geral', 'Overview'],
  ['/invoices', 'Notas', 'Invoices'],
  ['/indeterminate', 'Indeterminadas', 'Indeterminate'],
  ['/cancellations', 'Cancelamentos', 'Cancellations'],
  ['/parked', 'Trabalho parado', 'Parked work'],
  ['/certificates', 'Certificados', 'Certificates'],
  ['/projections', 'Projeções', 'Projections'],
];

export type Notice = { tone: 'good' | 'bad' | 'wait'; text: string | Html };

export const noticeOf = (notice: Notice | undefined): Html =>
  notice === undefined
    ? none
    : html`<p class="notice ${notice.tone}" role="${notice.tone === 'bad' ? 'alert' : 'status'}">${notice.text}</p>`;

/** The projections whose rows the pages show. */
export const SHOWN: readonly string[] = ['invoices', 'companies', 'deadlines'];

const lateRows = ({ say, behind, isLagKnown }: PageContext): Html => {
  const late = behind.filter((name) => SHOWN.includes(name)).join(', ');
  const text = isLagKnown
    ? say(
        `As linhas de ${late} estão atrás do log: o que não aparece pode existir, e o que aparece pode ter mudado.`,
        `The rows of ${late} are behind the log: what is not shown may exist, and what is shown may have changed.`,
      )
    : say(
        'Não se sabe se as linhas estão atrás do log: o que não aparece pode existir, e o que aparece pode ter mudado.',
        'Whether the rows are behind the log is not known: what is not shown may exist, and what is shown may have changed.',
      );
  return late === ''
    ? none
    : html`<p>${badge(say('não se sabe', 'unknown'), 'wait')} ${text} <a href="${ROOT}/projections">${say('Projeções', 'Projections')}</a></p>`;
};

/** `reloadSeconds` is only set while something on the page changes. The answer to a form never reloads: that would send the form again. */
export const page = (
  context: PageContext,
  { title, notice, reloadSeconds }: { title: string; notice?: Notice | undefined; reloadSeconds?: number | undefined },
  content: Html,
): Html => {
  const { say } = context;
  const simulated = context.simulatedModes.map((mode) => modeText(context, mode)).join(say(' e ', ' and '));
  return html`<!doctype html>
<html lang="${say('pt-BR', 'en')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${say('Suporte NFS-e', 'NFS-e support')}</title>
<link rel="stylesheet" href="${ROOT}/style.css">
</head>
<body>
<a class="skip" href="#content">${say('Pular para o conteúdo', 'Skip to the content')}</a>
<header>
<p class="brand"><a href="${ROOT}">${say('Suporte NFS-e', 'NFS-e support')}</a></p>
${context.isClosed ? none : navigation(context)}
</header>
${
  simulated === ''
    ? none
    : html`<aside class="simulated" aria-label="SIMULADO">${say(
        `SIMULADO: o simulador atende ${simulated}. Suas notas não são documentos fiscais.`,
        `SIMULADO: the simulator serves ${simulated} mode. Its notes are no fiscal documents.`,
      )}</aside>`
}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${noticeOf(notice)}${lateRows(context)}
${content}
</main>
<footer>
<p>nfse ${context.version} · ${say('horário de Brasília', 'time of Brasília')} ${clockText(context, context.now)}${refresh(context)}</p>
${reloads(context, reloadSeconds)}
${languages(context)}
${context.operator.signedIn ? signOut(context) : none}
</footer>
${raw(SCRIPT_ELEMENT)}
</body>
</html>`;
};

const refresh = ({ say, address }: PageContext): Html =>
  address === undefined ? none : html` · <a href="${address}">${say('Atualizar', 'Refresh')}</a>`;

/** Shown by the script alone, without which nothing reloads. */
const reloads = ({ say, address }: PageContext, seconds: number | undefined): Html =>
  address === undefined || seconds === undefined
    ? none
    : html`<p data-reload="${seconds}" hidden>${say(
        `Recarrega-se a cada ${seconds} s enquanto ninguém digita.`,
        `Reloads itself every ${seconds} s while nobody types.`,
      )}</p>`;

const languages = ({ language, address }: PageContext): Html => {
  if (address === undefined) return none;
  const to = `${address}${address.includes('?') ? '&' : '?'}lang=`;
  return html`<p>${
    language === 'pt'
      ? html`<a href="${to}en" lang="en" hreflang="en">English</a>`
      : html`<a href="${to}pt" lang="pt-BR" hreflang="pt-BR">Português</a>`
  }</p>`;
};

const navigation = ({ path, say }: PageContext): Html =>
  html`<nav aria-label="${say('Páginas', 'Pages')}"><ul>${PAGES.map(
    ([address, portuguese, english]) =>
      html`<li><a href="${ROOT}${address}"${path === `${ROOT}${address}` ? html` aria-current="page"` : none}>${say(portuguese, english)}</a></li>`,
  )}</ul></nav>`;

const signOut = (context: PageContext): Html => {
  const { say, operator } = context;
  return form(
    context,
    `${ROOT}/sign-out`,
    html`<p>${say('Entrou como', 'Signed in as')} ${operator.name}</p> <button class="quiet">${say('Sair', 'Sign out')}</button>`,
  );
};

/** Every form carries the form token of the session. */
export const form = ({ formToken }: PageContext, action: string, content: Html): Html =>
  html`<form method="post" action="${action}"><input type="hidden" name="form_token" value="${formToken}">${content}</form>`;

/**
 * The first button of a form in which each row of a table has a button. Enter in a field presses the first button, which does nothing here; without
 * this one it would be that of the first row.
 */
export const noDefaultButton: Html = html`<button disabled hidden>–</button>`;

/** The field for the operator's name that is recorded with an act; a signed-in operator is not asked again. `id` must be unique on the page. */
export const operatorField = ({ operator, say }: PageContext, id: string): Html =>
  operator.signedIn
    ? html`<p class="as">${say('Registrado em nome de', 'On record as')} ${operator.name}.</p>`
    : html`<p class="field"><label for="${id}">${say('Seu nome, para o registro', 'Your name, for the record')}</label>
<input id="${id}" name="operator" value="${operator.name}" required maxlength="60" autocomplete="username"></p>`;

type SignIn = {
  notice?: Notice;
  /** The page of the console to be opened after the sign-in; the overview without. */
  next?: string | undefined;
  /** What was typed into a form that was sent after the end of the session. */
  typed: TypedFields;
};

export const signInPage = (context: PageContext, { notice, next, typed }: SignIn): Html => {
  const { say } = context;
  return page(
    context,
    { title: say('Entrar', 'Sign in'), notice },
    form(
      context,
      `${ROOT}/sign-in`,
      html`${next === undefined ? none : html`<input type="hidden" name="next" value="${next}">`}${typedFields(context, typed)}
<p class="field"><label for="operator">${say('Seu nome, para o registro', 'Your name, for the record')}</label>
<input id="operator" name="operator" required maxlength="60" autocomplete="username"></p>
<p class="field"><label for="token">${say('Token de operador', 'Operator token')}</label>
<input id="token" name="token" type="password" required autocomplete="current-password"></p>
<p><button>${say('Entrar', 'Sign in')}</button></p>`,
    ),
  );
};

/** Fields of forms whose text is long or was compared: what was typed into them comes back when their form is not taken. */
const TYPED = ['as', 'access_key', 'other_sales', 'evidence', 'text'] as const;

export type TypedFields = Readonly<Record<(typeof TYPED)[number], string>>;

export const typedFieldsOf = (field: (name: string) => string): TypedFields =>
  Object.fromEntries(TYPED.map((name) => [name, field(name).trim()])) as TypedFields;

/**
 * What was typed into a form that was not taken, so that the operator can copy the texts into the next form. The fields have names, so that a sign-in
 * with a wrong token brings the texts back.
 */
export const typedFields = (
  context: PageContext,
  { as, access_key, other_sales, evidence, text }: TypedFields,
): Html => {
  const { say } = context;
  const field = (name: string, label: string, value: string): Html =>
    value === ''
      ? none
      : html`<p class="field wide"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${value}" readonly></p>`;
  return html`${as === '' ? none : html`<p>${say('Você escolheu resolver como', 'You chose to settle as')} <strong>${statusText(context, as)}</strong>.<input type="hidden" name="as" value="${as}"></p>`}
${field('access_key', say('A chave de acesso que você digitou', 'The access key that you typed'), access_key)}
${field('other_sales', say('A chave da nota de outra venda que você digitou', 'The access key of another sale that you typed'), other_sales)}
${field('text', say('O texto que você procurou', 'The text that you searched'), text)}
${
  evidence === ''
    ? none
    : html`<p class="field wide"><label for="evidence">${say(
        'A evidência que você digitou: copie o texto antes de continuar',
        'The evidence that you typed: copy the text before you go on',
      )}</label>
<textarea id="evidence" name="evidence" rows="6" readonly>${evidence}</textarea></p>`
}`;
};

/** A page with a single message; `text` says what to do. */
export const messagePage = (context: PageContext, title: string, text: string, more: Html = none): Html =>
  page(
    context,
    { title },
    html`<p>${text}</p>${more}<p><a href="${ROOT}">${context.say('Voltar à visão geral', 'Back to the overview')}</a></p>`,
  );

/** Shown to an operator who typed no usable name. */
export const nameNeeded = ({ say }: Pick<Shown, 'say'>): string =>
  say(
    'Digite seu nome para o registro: só letras, dígitos, espaços e . : _ @ -, no máximo 60.',
    'Type your name for the record: letters, digits, spaces and . : _ @ - only, 60 at most.',
  );
