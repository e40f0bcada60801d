import { html } from 'hono/html';
import { type CatalogueEntry, type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';
import { errorExample } from '../openapi/examples.js';
import { errorGuide } from './error-guide.js';
import type { AssetPath } from './files.js';

const codes = Object.keys(errorCatalogue) as ErrorCode[];

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCatalogue, code);

/** HTML made by templates, which escape every value that no template made. */
export type Html = ReturnType<typeof html>;

/** Every code with its status and cause. */
export const errorIndexPage = (assetPath: AssetPath): Html => {
  const rows = codes.map(
    (
      code,
    ) => html`<tr><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${errorCatalogue[code].status}</td><td>${errorGuide[code].cause}</td></tr>
`,
  );
  return page({
    title: 'Códigos de erro',
    assetPath,
    body: html`<nav><a href="/docs">Referência da API</a></nav>
<h1>Códigos de erro</h1>
<p>Decida sempre por <code>error.code</code> e por <code>error.retryable</code>, nunca pelo texto da mensagem.</p>
<table><thead><tr><th>Código</th><th>HTTP</th><th>Causa</th></tr></thead><tbody>
${rows}</tbody></table>`,
  });
};

/** The page of one code: cause, what to do, whether repeating helps, an example. */
export const errorPage = (code: ErrorCode, assetPath: AssetPath): Html => {
  const { status, type, param, retryable }: CatalogueEntry = errorCatalogue[code];
  const { cause, action } = errorGuide[code];
  return page({
    title: `Erro ${code}`,
    assetPath,
    body: html`<nav><a href="/docs">Referência da API</a> · <a href="/docs/errors">Códigos de erro</a></nav>
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
<h2>Repetir o mesmo pedido resolve?</h2>
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
    : 'Não (retryable: false). O mesmo pedido terá a mesma resposta enquanto a causa existir.';
};

/** The reference of the API, made by Swagger UI from `/openapi.json`. */
export const referencePage = (assetPath: AssetPath): Html =>
  page({
    title: 'Emissão de NFS-e: referência da API',
    assetPath,
    bodyClass: 'reference',
    head: html`<link rel="stylesheet" href="${assetPath('swagger-ui.css')}">\n`,
    body: html`<nav><a href="/docs/errors">Códigos de erro</a> · <a href="/openapi.json">openapi.json</a></nav>
<div id="swagger-ui"></div>
<script src="${assetPath('swagger-ui-bundle.js')}"></script>
<script src="${assetPath('init.js')}"></script>`,
  });

type Page = { title: string; body: Html; assetPath: AssetPath; head?: Html; bodyClass?: string };

/** A whole page in Portuguese. */
const page = ({ title, body, assetPath, head, bodyClass }: Page): Html => html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="${assetPath('style.css')}">
</head>
<body${bodyClass === undefined ? '' : html` class="${bodyClass}"`}>
${body}
</body>
</html>
`;
