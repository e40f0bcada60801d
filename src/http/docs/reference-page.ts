import { html } from 'hono/html';
import type { AssetPath } from './files.js';
import { type Html, page } from './page.js';

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
