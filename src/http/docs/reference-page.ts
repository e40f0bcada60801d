import type { AssetPath } from './assets.js';
import { page } from './html.js';

/** The reference of the API, drawn by Swagger UI from `/openapi.json`. */
export const referencePage = (assetPath: AssetPath): string =>
  page({
    title: 'Emissão de NFS-e: referência da API',
    assetPath,
    bodyClass: 'reference',
    head: `<link rel="stylesheet" href="${assetPath('swagger-ui.css')}">\n`,
    body: `<nav><a href="/docs/errors">Códigos de erro</a> · <a href="/openapi.json">openapi.json</a></nav>
<div id="swagger-ui"></div>
<script src="${assetPath('swagger-ui-bundle.js')}"></script>
<script src="${assetPath('init.js')}"></script>`,
  });
