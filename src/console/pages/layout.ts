import { html } from 'hono/html';
import type { Operator } from '../deps.js';
import { type Html, none } from './elements.js';

/** What every page needs besides its own content. */
export type PageContext = {
  operator: Operator;
  /** True when sign-in is needed and there is no valid session. */
  isClosed: boolean;
  formToken: string;
  path: string;
  version: string;
  simulatedModes: readonly string[];
};

export const ROOT = '/console';

const PAGES: readonly (readonly [string, string])[] = [
  ['', 'Overview'],
  ['/indeterminate', 'Indeterminate'],
  ['/cancellations', 'Cancellations'],
  ['/parked', 'Parked work'],
  ['/certificates', 'Certificates'],
  ['/projections', 'Projections'],
];

export type Notice = { tone: 'good' | 'bad' | 'wait'; text: string };

const noticeOf = (notice: Notice | undefined): Html =>
  notice === undefined
    ? none
    : html`<p class="notice ${notice.tone}" role="${notice.tone === 'bad' ? 'alert' : 'status'}">${notice.text}</p>`;

/** `refreshSeconds` is only set while something on the page changes. */
export const page = (
  context: PageContext,
  { title, notice, refreshSeconds }: { title: string; notice?: Notice | undefined; refreshSeconds?: number },
  content: Html,
): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refreshSeconds === undefined ? none : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · NFS-e support</title>
<link rel="stylesheet" href="${ROOT}/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand"><a href="${ROOT}">NFS-e support</a></p>
${context.isClosed ? none : navigation(context)}
</header>
${context.simulatedModes.length === 0 ? none : html`<p class="simulated">SIMULADO: the simulator serves ${context.simulatedModes.join(' and ')} mode. Its notes are no fiscal documents.</p>`}
<main id="content" tabindex="-1">
<h1>${title}</h1>
${noticeOf(notice)}
${content}
</main>
<footer>
<p>nfse ${context.version}</p>
${context.operator.signedIn ? signOut(context) : none}
</footer>
</body>
</html>`;

const navigation = ({ path }: PageContext): Html =>
  html`<nav aria-label="Pages"><ul>${PAGES.map(
    ([address, name]) =>
      html`<li><a href="${ROOT}${address}"${path === `${ROOT}${address}` ? html` aria-current="page"` : none}>${name}</a></li>`,
  )}</ul></nav>`;

const signOut = (context: PageContext): Html =>
  form(
    context,
    `${ROOT}/sign-out`,
    html`<p>Signed in as ${context.operator.name}</p> <button class="quiet">Sign out</button>`,
  );

/** Every form carries the form token of the session. */
export const form = ({ formToken }: PageContext, action: string, content: Html, id?: string): Html =>
  html`<form method="post" action="${action}"${id === undefined ? none : html` id="${id}"`}><input type="hidden" name="form_token" value="${formToken}">${content}</form>`;

/** The field for the operator's name that is recorded with an act; a signed-in operator is not asked again. `id` must be unique on the page. */
export const operatorField = ({ operator }: PageContext, id: string): Html =>
  operator.signedIn
    ? html`<p class="as">On record as ${operator.name}.</p>`
    : html`<p class="field"><label for="${id}">Your name, for the record</label>
<input id="${id}" name="operator" value="${operator.name}" required maxlength="60" autocomplete="username"></p>`;

export const signInPage = (context: PageContext, notice?: Notice): Html =>
  page(
    context,
    { title: 'Sign in', notice },
    form(
      context,
      `${ROOT}/sign-in`,
      html`<p class="field"><label for="operator">Your name, for the record</label>
<input id="operator" name="operator" required maxlength="60" autocomplete="username"></p>
<p class="field"><label for="token">Operator token</label>
<input id="token" name="token" type="password" required autocomplete="current-password"></p>
<p><button>Sign in</button></p>`,
    ),
  );

/** A page with a single message; `text` says what to do. */
export const messagePage = (context: PageContext, title: string, text: string): Html =>
  page(context, { title }, html`<p>${text}</p><p><a href="${ROOT}">Back to the overview</a></p>`);
