import { html } from 'hono/html';
import type { AssetPath } from './files.js';

/** HTML made by templates, which escape every value that no template made. */
export type Html = ReturnType<typeof html>;

type Page = { title: string; body: Html; assetPath: AssetPath; bodyClass?: string };

/** A whole page in Portuguese. */
export const page = ({ title, body, assetPath, bodyClass }: Page): Html => html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetPath('style.css')}">
</head>
<body${bodyClass === undefined ? '' : html` class="${bodyClass}"`}>
${body}
</body>
</html>
`;

/** The reference of the API, made by Redoc from `/openapi.json`. */
export const referencePage = (assetPath: AssetPath): Html =>
  page({
    title: 'Emissão de NFS-e: referência da API',
    assetPath,
    bodyClass: 'reference',
    body: html`<nav><a href="/docs/guia">Guia</a> · <a href="/docs/errors">Códigos de erro</a> · <a href="/openapi.json">openapi.json</a> · <a href="/docs/collection.json">coleção do Postman</a></nav>
<div id="reference"></div>
<noscript><p>A referência precisa de JavaScript. Sem ele, leia o <a href="/openapi.json">documento OpenAPI</a>.</p></noscript>
<script src="${assetPath('redoc.standalone.js')}"></script>
<script src="${assetPath('reference.js')}"></script>`,
  });
