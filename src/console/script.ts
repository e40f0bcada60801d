import { sha256 } from '../lib/sha256.js';

/**
 * The only script of the console: it shows the buttons that copy a text, and copies. Pages are whole without it. It is part of the page, and its
 * digest in the Content-Security-Policy lets no other script run.
 */
const SCRIPT = `
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
  });
}
`;

/** The text of the script in a page. */
export const SCRIPT_ELEMENT = `<script>${SCRIPT}</script>`;

/** As a source of `script-src`. */
export const SCRIPT_SOURCE = `'sha256-${sha256(SCRIPT, 'base64')}'`;
