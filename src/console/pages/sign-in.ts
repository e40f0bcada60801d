import { type Html, html } from './html.js';
import { form, type Notice, type PageContext, page, ROOT } from './layout.js';

export const signInPage = (context: PageContext, notice?: Notice): Html =>
  page(
    context,
    { title: 'Sign in', notice },
    form(
      context,
      `${ROOT}/sign-in`,
      html`<p class="field"><label for="operator">Your name, for the record</label>
<input id="operator" name="operator" required maxlength="60" autocomplete="username"></p>
<p class="field"><label for="token">Operator token</label>
<input id="token" name="token" type="password" required autocomplete="current-password"></p>
<p><button>Sign in</button></p>`,
    ),
  );

/** Whatever else cannot be shown; `text` says what to do about it. */
export const messagePage = (context: PageContext, title: string, text: string): Html =>
  page(context, { title }, html`<p>${text}</p><p><a href="${ROOT}">Back to the overview</a></p>`);
