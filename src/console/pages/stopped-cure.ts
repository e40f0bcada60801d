import { html } from 'hono/html';
import { COMPARE_COPY, stoppedCure } from '../../app/operator/support/stopped-series.js';
import type { Instant } from '../../domain/common/time.js';
import { clockText, type Html, none, timeOf } from './elements.js';
import type { PageContext } from './layout.js';

/** Since when a series sends nothing; empty where its newest event cannot be read and names no time. */
export const sinceText = (context: PageContext, since: Instant | undefined): Html =>
  since === undefined ? none : html` ${context.say('desde', 'since')} ${timeOf(context, since)}`;

/** Why a series is stopped and what lets it go on, by the facts of the command line. */
export const stoppedCureText = (context: PageContext, stopped: Parameters<typeof stoppedCure>[0]): Html => {
  const { say } = context;
  const cure = stoppedCure(stopped);
  if (cure.kind === 'other_series')
    return html`${say(
      'seu último número foi usado. Grave um arquivo de empresa com outra série.',
      'its last number was given. Put a company file with another series.',
    )}`;
  if (cure.kind === 'unreadable' && cure.of === 'numbers')
    return html`${say(
      'o evento mais novo dos seus números não pode ser lido',
      'the newest event of its numbers cannot be read',
    )} (<span lang="en">${cure.why}</span>). ${say(
      'Se uma versão mais nova deste programa o escreveu, rode essa versão. Se foi outro programa, tire o direito dele e grave um arquivo de empresa com outra série.',
      'Where a newer version of this program wrote it, run that version. Where another program did, take its right and put a company file with another series.',
    )}`;
  const foreign = say(
    'uma nota que não é nossa tem um dos seus números. Compare-a primeiro no portal nacional.',
    'a note that is not ours has one of its numbers. First compare it at the national portal.',
  );
  const [mark, reconcile] = COMPARE_COPY;
  const compare = html`<span class="mono">${mark}</span>, ${say('depois', 'then')} <span class="mono">${reconcile}</span>`;
  const put = say(
    'um arquivo de empresa cujo próximo número (dps) seja maior que o de toda nota da série.',
    'a company file whose next number (dps) is greater than that of every note of the series.',
  );
  const compareFirst = html`${say(
    'Se uma cópia do log ou de DATA_DIR foi posta de volta, um número posterior emitiria de novo o que o log esqueceu. Nesse caso:',
    'Where a copy of the log or of DATA_DIR was put back, a later number would issue again what the log has forgotten. There:',
  )} ${compare}. ${say('Senão, grave', 'Else put')} ${put}`;
  if (cure.kind === 'unreadable')
    return html`${foreign} ${say(
      'Se o log foi comparado desde então não se sabe: um evento não pode ser lido',
      'Whether the log was compared since is not known: an event cannot be read',
    )} (<span lang="en">${cure.why}</span>). ${say(
      'Se uma versão mais nova deste programa o escreveu, rode essa versão. Se foi outro programa, tire o direito dele.',
      'Where a newer version of this program wrote it, run that version. Where another program did, take its right.',
    )} ${compareFirst}`;
  const { comparedAt } = cure;
  return comparedAt === undefined
    ? html`${foreign} ${compareFirst}`
    : html`${foreign} ${say('Depois grave', 'Then put')} ${put} ${say(
        `Só se uma cópia do log ou de DATA_DIR foi posta de volta depois da comparação que terminou em ${clockText(context, comparedAt)}, antes disso:`,
        `Only where a copy of the log or of DATA_DIR was put back after the comparison that ended at ${clockText(context, comparedAt)}, first:`,
      )} ${compare}.`;
};
