import type { SettleAs } from '../../app/settlement/settlement.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { type Html, html, none } from './html.js';
import { form, operatorField, type PageContext, ROOT } from './layout.js';

export type TypedSettlement = { as: string; accessKey: string; evidence: string };

const MEANINGS: Readonly<Record<SettleAs, string>> = {
  issued: 'Issued: the document is looked up at the authorizer, and its digest compared.',
  failed: 'Failed: proven absent by two look-ups, 24 hours or more after the last attempt.',
  canceled: 'Canceled: the cancellation event is looked up at the authorizer.',
};

/** What an invoice may be settled as; empty when support has nothing to settle. */
export const settleOptions = ({ outcome, cancellation }: Invoice): readonly SettleAs[] => {
  if (outcome.status === 'indeterminate') return ['issued', 'failed'];
  return outcome.status === 'issued' && cancellation?.status === 'failed' ? ['canceled'] : [];
};

export const settleForm = (
  context: PageContext,
  id: string,
  invoice: Invoice,
  typed: TypedSettlement = { as: '', accessKey: '', evidence: '' },
): Html => {
  const options = settleOptions(invoice);
  if (options.length === 0) return none;
  return html`<section class="act" aria-labelledby="settle"><h2 id="settle">Settle</h2>${form(
    context,
    `${ROOT}/invoices/${id}/settle`,
    html`<fieldset><legend>As</legend>${options.map(
      (as) =>
        html`<p class="choice"><input type="radio" id="as-${as}" name="as" value="${as}" required${as === typed.as ? html` checked` : none}>
<label for="as-${as}">${MEANINGS[as]}</label></p>`,
    )}</fieldset>
${
  options.includes('issued')
    ? html`<p class="field wide"><label for="access_key">Access key, if you know it (issued only)</label>
<input id="access_key" name="access_key" maxlength="50" value="${typed.accessKey}" autocomplete="off" spellcheck="false"></p>`
    : none
}
<p class="field wide"><label for="evidence">Evidence: what this rests on, in your words</label>
<textarea id="evidence" name="evidence" rows="3" required maxlength="2000">${typed.evidence}</textarea></p>
${operatorField(context, 'settle-operator')}
<p><button>Settle</button> <span class="hint">The authorizer is asked in every case; nothing is recorded on a word alone.</span></p>`,
  )}</section>`;
};
