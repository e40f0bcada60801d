import { html } from 'hono/html';
import type { Held, NextStep, WaitsFor } from '../../app/operator/support/waits-for.js';
import { type Instant, isBefore } from '../../domain/common/time.js';
import { type Html, timeOf } from './elements.js';
import type { PageContext } from './layout.js';
import { sinceText, stoppedCureText } from './stopped-cure.js';

/** What an open invoice or a pending cancellation waits for, as it was at `asOf`. */
export type Waits = { waits: WaitsFor; asOf: Instant; of: 'invoice' | 'cancellation' };

const STEPS: Readonly<Record<NextStep['step'], readonly [portuguese: string, english: string]>> = {
  send: ['envio', 'send'],
  resend: ['novo envio', 'send again'],
  look_up: ['consulta ao autorizador', 'look-up at the authorizer'],
  conclude: ['fim pelo prazo', 'end by time'],
};

/** The next step with its instant, and what holds it back; as `nfse invoice timeline` says them. */
export const waitsFacts = (
  context: PageContext,
  shown: Waits | undefined,
): readonly (readonly [name: string, value: Html])[] => {
  if (shown?.waits.next === undefined) return [];
  const { say } = context;
  const { asOf, of } = shown;
  const { next, held } = shown.waits;
  const name =
    of === 'invoice'
      ? say('Próximo passo', 'Next step')
      : say('Próximo passo do cancelamento', 'Next step of the cancellation');
  const due = isBefore(asOf, next.from)
    ? html`${say('a partir de', 'from')} ${timeOf(context, next.from)}`
    : html`${say('agora', 'now')}`;
  const but = held.length === 0 ? '' : say(', mas algo o segura', ', but for what holds it back');
  return [
    [name, html`${say(...STEPS[next.step])} ${due}${but}`],
    ...held.map((one) => [say('Parado por', 'Held back by'), heldText(context, one)] as const),
  ];
};

const heldText = (context: PageContext, held: Held): Html => {
  const { say } = context;
  const store = say('Guarde outro certificado.', 'Store another certificate.');
  switch (held.kind) {
    case 'certificate_missing':
      return html`${say(
        'a empresa não tem certificado que possa ser usado.',
        'the company has no certificate that can be used.',
      )} ${store}`;
    case 'certificate_refused': {
      const { since, reason } = held.refusal;
      return html`${say(
        'o autorizador recusa o certificado da empresa desde',
        "the authorizer refuses the company's certificate since",
      )} ${timeOf(context, since)} (<span lang="en">${reason}</span>). ${store}`;
    }
    case 'series_stopped': {
      const { series, since } = held.stopped;
      return html`${say(`a série ${series} nada envia`, `series ${series} sends nothing`)}${sinceText(context, since)}: ${stoppedCureText(context, held.stopped)}`;
    }
  }
};
