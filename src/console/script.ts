import { sha256 } from '../lib/sha256.js';

/**
 * The only script of the console. It shows the buttons that copy a text, and copies. It reloads a page on which something moves, unless a person
 * works on the page: a reload takes typed text, focus and selection away. Pages are whole without the script. The script is part of the page, and
 * its digest in the Content-Security-Policy lets no other script run.
 */
const SCRIPT = `
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
  });
}
for (const note of document.querySelectorAll('[data-reload]')) {
  note.hidden = false;
  const isTouched = (field) => field.type !== 'hidden' && (field.value !== field.defaultValue || field.checked !== field.defaultChecked);
  setInterval(() => {
    const isIdle = document.activeElement === document.body && String(getSelection()) === '';
    if (isIdle && ![...document.querySelectorAll('input, textarea')].some(isTouched)) location.reload();
  }, note.dataset.reload * 1000);
}
`;

/** The text of the script in a page. */
export const SCRIPT_ELEMENT = `<script>${SCRIPT}</script>`;

/** As a source of `script-src`. */
export const SCRIPT_SOURCE = `'sha256-${sha256(SCRIPT, 'base64')}'`;
