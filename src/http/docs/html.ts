import type { AssetPath } from './assets.js';

/** Text as HTML shows it, in content and in quoted attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

type Page = { title: string; body: string; assetPath: AssetPath; head?: string; bodyClass?: string };

/** A whole page in Portuguese; `title` is text, `body` and `head` are HTML. Nothing comes from outside. */
export const page = ({ title, body, assetPath, head = '', bodyClass }: Page): string => `<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="${assetPath('style.css')}">
</head>
<body${bodyClass === undefined ? '' : ` class="${bodyClass}"`}>
${body}
</body>
</html>
`;
