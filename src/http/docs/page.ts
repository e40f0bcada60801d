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
