import { page } from './html.js';

/** The reference of the API, drawn by Swagger UI from `/openapi.json`. */
export const referencePage = (): string =>
  page({
    title: 'Emissão de NFS-e: referência da API',
    bodyClass: 'reference',
    head: '<link rel="stylesheet" href="/docs/assets/swagger-ui.css">\n',
    body: `<nav><a href="/docs/errors">Códigos de erro</a> · <a href="/openapi.json">openapi.json</a></nav>
<div id="swagger-ui"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/assets/init.js"></script>`,
  });
