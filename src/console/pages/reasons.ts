import { html } from 'hono/html';
import { clockText, type Html, type Shown } from './elements.js';

/** An English text of the log with its instants by the clock of the page. */
export const evidenceText = (context: Pick<Shown, 'say'>, evidence: string): string =>
  evidence.replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b/g, (at) => clockText(context, at));

const OTHER_SALES = / --other-sale (\S+)/g;

/**
 * The reason of a refusal as pages say it. The command line names ends and keys by its flags, which no page has: here the end is alone, with the keys
 * for the field of notes of other sales.
 */
export const reasonOf = (context: Pick<Shown, 'say'>, reason: string): Html => {
  const words = evidenceText(context, reason)
    .replaceAll(/--as (\w+)((?: --other-sale \S+)+)/g, (_, end: string, sales: string) => {
      const keys = [...sales.matchAll(OTHER_SALES)].map(([, key]) => key);
      return `“${end}” with the access key${keys.length === 1 ? '' : 's'} ${keys.join(' ')}`;
    })
    .replaceAll(/--as (\w+)/g, '“$1”');
  return html`<span lang="en">${words}</span>`;
};
