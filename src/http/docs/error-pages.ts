import { html } from 'hono/html';
import { type CatalogueEntry, type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';
import { pageOf } from '../answer.js';
import { errorExample } from '../openapi/examples.js';
import { errorGroups, errorGuide } from './error-guide.js';
import type { AssetPath } from './files.js';
import { type InvoiceErrorCode, invoiceErrorGuide } from './invoice-error-guide.js';
import { type Html, page } from './page.js';

const codes = Object.keys(errorCatalogue) as readonly ErrorCode[];
const invoiceCodes = Object.keys(invoiceErrorGuide) as readonly InvoiceErrorCode[];

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCatalogue, code);
const isInvoiceErrorCode = (code: string): code is InvoiceErrorCode => Object.hasOwn(invoiceErrorGuide, code);

/** Every code in groups, with its status and cause; a field filters the rows where scripts run. */
export const errorIndexPage = (assetPath: AssetPath): Html =>
  page({
    title: 'Códigos de erro',
    assetPath,
    body: html`<nav><a href="/docs/guia">Guia</a> · <a href="/docs">Referência da API</a></nav>
<h1>Códigos de erro</h1>
<p>Decida sempre por <code>error.code</code> e por <code>error.retryable</code>, nunca pelo texto da mensagem. Todo erro, menos 401 e 403, traz no cabeçalho <code>Link</code> o endereço da página do seu código.</p>
<p class="search" hidden><label>Procurar <input type="search" id="search" placeholder="código, status ou palavra"></label> <span id="found" role="status"></span></p>
<ul class="contents">
${groups().map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul>
${groups().map(groupSection)}<script src="${assetPath('search.js')}"></script>`,
  });

type Row = { code: string; status: string; cause: string };
type Group = { id: string; title: string; statusName: string; rows: readonly Row[] };

/** The codes inside an invoice come first: a wrong reaction to one of them issues twice. */
const groups = (): readonly Group[] => [
  {
    id: 'invoice',
    title: 'Dentro da nota',
    statusName: 'Emitir de novo',
    rows: invoiceCodes.map((code) => {
      const { again, cause } = invoiceErrorGuide[code];
      return { code, status: again.isSafe ? 'seguro' : 'nunca', cause };
    }),
  },
  ...Object.entries(errorGroups).map(([id, title]) => ({
    id,
    title,
    statusName: 'HTTP',
    rows: codes
      .filter((code) => errorGuide[code].group === id)
      .map((code) => ({ code, status: String(errorCatalogue[code].status), cause: errorGuide[code].cause })),
  })),
];

const groupSection = ({ id, title, statusName, rows }: Group): Html => html`<section id="${id}">
<h2>${title}</h2>
<table><thead><tr><th>Código</th><th>${statusName}</th><th>Causa</th></tr></thead><tbody>
${rows.map(({ code, status, cause }) => html`<tr><td><a href="${pageOf(code)}"><code>${code}</code></a></td><td data-label="${statusName}">${status}</td><td>${cause}</td></tr>\n`)}</tbody></table>
</section>
`;

/** Makes the page of a code, of a refusal or inside an invoice; undefined for any other text. */
export const pageOfCode = (code: string): ((assetPath: AssetPath) => Html) | undefined => {
  if (isErrorCode(code)) return (assetPath) => refusalPage(code, assetPath);
  return isInvoiceErrorCode(code) ? (assetPath) => invoiceErrorPage(code, assetPath) : undefined;
};

const NAVIGATION = html`<nav><a href="/docs/guia">Guia</a> · <a href="/docs">Referência da API</a> · <a href="/docs/errors">Códigos de erro</a></nav>`;

/** Cause, what to do, whether repeating helps, an example. */
const refusalPage = (code: ErrorCode, assetPath: AssetPath): Html => {
  const { status, type, param, retryable }: CatalogueEntry = errorCatalogue[code];
  const { cause, action } = errorGuide[code];
  return page({
    title: `Erro ${code}`,
    assetPath,
    body: html`${NAVIGATION}
<h1><code>${code}</code></h1>
<table><tbody>
<tr><th>Status HTTP</th><td>${status}</td></tr>
<tr><th>Tipo</th><td><code>${type}</code></td></tr>
<tr><th>Campo</th><td>${param === undefined ? 'varia ou nenhum' : html`<code>${param}</code>`}</td></tr>
</tbody></table>
<h2>Causa</h2>
<p>${cause}</p>
<h2>O que fazer</h2>
<p>${action}</p>
<h2>Repetir a mesma requisição resolve?</h2>
<p>${repeating(code, retryable)}</p>
<h2>Exemplo</h2>
<pre>${JSON.stringify(errorExample(code), undefined, 2)}</pre>`,
  });
};

/** Only `nfse.not_issued` has a `retryable` that depends on the invoice (ERR-retryable). */
const repeating = (code: ErrorCode, retryable: boolean): string => {
  if (code === 'nfse.not_issued')
    return 'Depende da nota: sim (retryable: true, com Retry-After) em queued e processing; não (retryable: false) nos outros casos.';
  return retryable
    ? 'Sim (retryable: true). Repita com a mesma Idempotency-Key.'
    : 'Não (retryable: false). A mesma requisição terá a mesma resposta enquanto a causa existir.';
};

/** Where the code appears, its cause, whether issuing again is safe, what to do, an example. */
const invoiceErrorPage = (code: InvoiceErrorCode, assetPath: AssetPath): Html => {
  const { place, cause, again, steps, example } = invoiceErrorGuide[code];
  return page({
    title: `Nota com ${code}`,
    assetPath,
    body: html`${NAVIGATION}
<h1><code>${code}</code></h1>
<table><tbody>
<tr><th>Onde aparece</th><td>${place}</td></tr>
</tbody></table>
<h2>Causa</h2>
<p>${cause}</p>
<h2>É seguro emitir de novo?</h2>
<p class="${again.isSafe ? 'safe' : 'never'}"><strong>${again.text}</strong></p>
<h2>O que fazer</h2>
<ol>
${steps.map((step) => html`<li>${step}</li>\n`)}</ol>
<h2>Exemplo</h2>
<pre>${JSON.stringify(example, undefined, 2)}</pre>`,
  });
};
