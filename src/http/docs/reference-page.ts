import { html } from 'hono/html';
import type { AssetPath } from './files.js';
import { type Html, page } from './page.js';

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
