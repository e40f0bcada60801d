import { html } from 'hono/html';

/** A piece of a page. Whatever a template is given is escaped, but for pieces made by a template. */
export type Html = ReturnType<typeof html>;

export { html };

/** Nothing, where a piece may stand. */
export const none: Html = html``;
