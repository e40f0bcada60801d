import { html } from 'hono/html';
import type { SettleAs } from '../../app/operator/settlement/settle-invoice.js';
import { addSeconds, type Instant, isBefore } from '../../domain/common/time.js';
import { contentMet } from '../../domain/invoice/note-met.js';
import {
  absencesToProve,
  cannotBeCanceled,
  isCancellationFailed,
  OTHER_CONTENT,
  SETTLE_ABSENCE_SECONDS,
} from '../../domain/invoice/settle.js';
import type { Invoice } from '../../domain/invoice/state.js';
import { isCanceled } from '../../domain/invoice/status.js';
import { type Html, none, timeOf } from './elements.js';
import { form, operatorField, type PageContext, ROOT, typedFields } from './layout.js';
import { reasonOf } from './reasons.js';

export type TypedSettlement = { as: string; accessKey: string; otherSales: string; evidence: string };

/**
 * An end that support may choose; not yet possible with `from` (an instant), and not possible with `against` (a reason).
 */
export type SettleChoice = { as: SettleAs; from?: Instant; against?: string };

/** What support may settle an invoice as; empty when there is nothing to settle. */
export const settleChoices = (invoice: Invoice, now: Instant): readonly SettleChoice[] => {
  if (invoice.outcome.status === 'indeterminate') return [issuedChoice(invoice), failedChoice(invoice, now)];
  if (cannotBeCanceled(invoice) !== undefined) return [];
  const mayClose = isCancellationFailed(invoice) && invoice.cancellation?.closedAt === undefined;
  return mayClose ? [{ as: 'canceled' }, { as: 'valid' }] : [{ as: 'canceled' }];
};

/** Whether the invoice has this end already, as when its form is sent a second time. */
export const hasEnd = (invoice: Invoice, as: SettleAs): boolean => {
  switch (as) {
    case 'issued':
    case 'failed':
      return invoice.outcome.status === as;
    case 'canceled':
      return isCanceled(invoice);
    case 'valid':
      return invoice.cancellation?.closedAt !== undefined;
  }
};

const issuedChoice = (invoice: Invoice): SettleChoice =>
  contentMet(invoice) === 'other' ? { as: 'issued', against: OTHER_CONTENT } : { as: 'issued' };

const failedChoice = (invoice: Invoice, now: Instant): SettleChoice => {
  const wanted = absencesToProve(invoice, now);
  if (!('refused' in wanted)) return { as: 'failed' };
  const last = invoice.attempts.at(-1);
  const from = last && addSeconds(last.attemptedAt, SETTLE_ABSENCE_SECONDS);
  return from !== undefined && isBefore(now, from) ? { as: 'failed', from } : { as: 'failed', against: wanted.refused };
};

const MEANINGS: Readonly<Record<SettleAs, readonly [portuguese: string, english: string]>> = {
  issued: [
    'Emitida: o documento é consultado no autorizador e seu digest comparado. Vale também a nota de conteúdo igual que tem o número desta.',
    'Issued: the document is looked up at the authorizer, and its digest compared. A note with equal content that has the number of this one counts too.',
  ],
  failed: [
    'Falhou: ausência comprovada por duas consultas, ou a nota de outra venda sob o seu número, 24 horas ou mais depois da última tentativa.',
    'Failed: proven absent by two look-ups, or the note of another sale under its number, 24 hours or more after the last attempt.',
  ],
  canceled: [
    'Cancelada: um evento que cancela ou substitui a nota é consultado no autorizador. Sem ele nada muda.',
    'Canceled: an event that cancels or replaces the note is looked up at the authorizer. Without one nothing changes.',
  ],
  valid: [
    'Válida: a nota fica, porque o autorizador não mostra evento. O cancelamento que falhou deixa de esperar.',
    'Valid: the note stays, because the authorizer shows no event for it. The failed cancellation waits no more.',
  ],
};

export const settleForm = (
  context: PageContext,
  id: string,
  choices: readonly SettleChoice[],
  typed: TypedSettlement = { as: '', accessKey: '', otherSales: '', evidence: '' },
): Html => {
  if (choices.length === 0) {
    const { as, accessKey, otherSales, evidence } = typed;
    return typedFields(context, { as, access_key: accessKey, other_sales: otherSales, evidence, text: '' });
  }
  const { say } = context;
  return html`<section class="act" aria-labelledby="settle"><h2 id="settle">${say('Resolver', 'Settle')}</h2>${form(
    context,
    `${ROOT}/invoices/${id}/settle`,
    html`<fieldset><legend>${say('Como', 'As')}</legend>${choices.map((choice) => choiceOf(context, choice, typed.as))}</fieldset>
${
  choices.some(({ as }) => as === 'issued')
    ? html`<p class="field wide"><label for="access_key">${say('Chave de acesso, se conhecida (só para emitida)', 'Access key, if you know it (issued only)')}</label>
<input id="access_key" name="access_key" maxlength="100" value="${typed.accessKey}" autocomplete="off" spellcheck="false"></p>`
    : none
}
${
  choices.some((choice) => choice.as === 'failed' && isPossible(choice))
    ? html`<p class="field wide"><label for="other_sales">${say('Chave da nota que tem o número desta, se comparada e de outra venda (só para falhou)', 'Access key of the note that has its number, if compared and of another sale (failed only)')}</label>
<input id="other_sales" name="other_sales" maxlength="500" value="${typed.otherSales}" autocomplete="off" spellcheck="false"></p>`
    : none
}
<p class="field wide"><label for="evidence">${say('Evidência: em que isto se apoia, com as suas palavras', 'Evidence: what this rests on, in your words')}</label>
<textarea id="evidence" name="evidence" rows="3" required maxlength="2000">${typed.evidence}</textarea></p>
${operatorField(context, 'settle-operator')}
<p><button>${say('Resolver', 'Settle')}</button> <span class="hint">${say(
      'O autorizador é sempre consultado. Só que uma nota é de outra venda pode ser declarado, por quem a comparou; a declaração fica registrada.',
      'The authorizer is asked in every case. Only that a note is of another sale may be declared, by who compared it; the declaration is recorded.',
    )}</span></p>`,
  )}</section>`;
};

const isPossible = ({ from, against }: SettleChoice): boolean => from === undefined && against === undefined;

const choiceOf = (context: PageContext, choice: SettleChoice, typed: string): Html => {
  const { say } = context;
  const { as, from, against } = choice;
  const lead =
    from === undefined ? say('Não é possível:', 'Not possible:') : say('Ainda não é possível:', 'Not possible yet:');
  const when =
    from === undefined
      ? reasonOf(context, against ?? '')
      : html`${say('a partir de', 'from')} ${timeOf(context, from)}`;
  return html`<p class="choice"><input type="radio" id="as-${as}" name="as" value="${as}" required${as === typed ? html` checked` : none}${isPossible(choice) ? none : html` disabled`}>
<label for="as-${as}">${say(...MEANINGS[as])}${isPossible(choice) ? none : html` <strong>${lead} ${when}</strong>`}</label></p>`;
};
