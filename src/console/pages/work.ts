import { html } from 'hono/html';
import type { StoppedSeries } from '../../app/operator/support/stopped-series.js';
import type { ParkedIn } from '../../app/operator/support/waiting.js';
import { parseInvoiceStream, publicInvoiceId } from '../../domain/common/ids.js';
import { ageText } from '../../lib/age-text.js';
import { counted } from '../../lib/counted.js';
import type { CertificateRefusal } from '../../ports/certificate-refusals.js';
import type { ParkedWork } from '../../ports/work-queue.js';
import type { CheckHealth, NoticeLine, ProjectionLine, RebuildRun, RoleHealth, WaitingWork } from '../deps.js';
import { refusedList } from './certificates.js';
import { badge, companyOf, emptyText, type Html, modeText, nameOf, none, table, timeOf } from './elements.js';
import {
  form,
  invoiceLink,
  type Notice,
  noDefaultButton,
  operatorField,
  type PageContext,
  page,
  ROOT,
} from './layout.js';
import { searchForm } from './search.js';
import { sinceText, stoppedCureText } from './stopped-cure.js';

/** `issue` or `cancel`, as a person says it. */
const workText = ({ say }: PageContext, kind: ParkedWork['kind']): string =>
  kind === 'issue' ? say('emissão', 'issue') : say('cancelamento', 'cancel');

/** Why parked work cannot be shown, and what helps; the reason stays in English, as at the command line. */
const parkedUnknown = ({ say }: PageContext, reason: string): Html =>
  html`<p>${badge(say('não se sabe', 'unknown'), 'wait')} ${say(
    'Não se sabe qual trabalho está parado, porque a fila não responde',
    'Which work is parked is not known, because the queue does not answer',
  )}: <span lang="en">${reason}</span>. ${say(
    'Verifique NATS_URL e o servidor NATS. Os prazos ainda encerram as notas.',
    'Check NATS_URL and the NATS server. Timers still end the invoices.',
  )}</p>`;

export const parkedPage = (context: PageContext, { work: parked, count, unknown }: ParkedIn, notice?: Notice): Html => {
  const { say } = context;
  if (unknown !== undefined)
    return page(context, { title: say('Trabalho parado', 'Parked work'), notice }, parkedUnknown(context, unknown));
  const again = say('Tentar de novo', 'Try again');
  return page(
    context,
    { title: say('Trabalho parado', 'Parked work'), notice },
    parked.length === 0
      ? html`<p class="empty">${say('Nada está parado.', 'Nothing is parked.')}</p>`
      : form(
          context,
          `${ROOT}/parked/retry`,
          html`<p>${say(
            'Trabalho que falhou muitas vezes. Os prazos ainda encerram suas notas; tentar de novo não causa dano.',
            'Work items that failed many times. Timers still end their invoices; trying again does no harm.',
          )}</p>
${noDefaultButton}${operatorField(context, 'parked-operator')}
${table(
  say('Parado, o mais antigo primeiro', 'Parked, oldest first'),
  [
    say('Nota', 'Invoice'),
    say('Trabalho', 'Work'),
    say('Empresa', 'Company'),
    say('Parado em', 'Parked'),
    say('Motivo', 'Reason'),
    say('De novo', 'Again'),
  ],
  parked.map(({ stream, kind, parkedAt, reason }) => {
    const address = parseInvoiceStream(stream);
    const id = address === undefined ? undefined : publicInvoiceId(address.invoiceId);
    const named = id ?? stream;
    const work = workText(context, kind);
    return [
      id === undefined ? stream : invoiceLink(id),
      work,
      companyOf(context, address?.companyId),
      timeOf(context, parkedAt),
      reason,
      html`<button name="stream" value="${stream}" aria-label="${again}: ${work} ${named}">${again}</button>`,
    ];
  }),
  say('Nada está parado.', 'Nothing is parked.'),
)}
${count > parked.length ? html`<p>${say(`e mais ${count - parked.length}`, `and ${count - parked.length} more`)}</p>` : none}
<p><button name="stream" value="all" class="quiet">${say('Tentar todos de novo', 'Try all of them again')}</button></p>`,
        ),
  );
};

const RELOAD_SECONDS = 3;

type ProjectionRow = ProjectionLine & { run: RebuildRun | undefined };

/** Whether a rebuild of the projection runs, in this process or in another. */
export const isRebuilding = ({ rebuilding, run }: ProjectionRow): boolean =>
  rebuilding?.running === true || run?.state === 'running';

export const projectionsPage = (context: PageContext, rows: readonly ProjectionRow[], notice?: Notice): Html => {
  const { say } = context;
  const isMoving = rows.some(isRebuilding);
  return page(
    context,
    { title: say('Projeções', 'Projections'), notice, reloadSeconds: isMoving ? RELOAD_SECONDS : undefined },
    form(
      context,
      `${ROOT}/projections/rebuild`,
      html`<p>${say(
        'Uma reconstrução faz linhas novas ao lado das atuais e depois troca. O serviço continua.',
        'A rebuild builds fresh rows beside the live ones, then swaps. The service keeps running.',
      )}</p>
${noDefaultButton}${operatorField(context, 'rebuild-operator')}
${table(
  say('Linhas em uso', 'Live rows'),
  [
    say('Projeção', 'Projection'),
    say('Atrás do log', 'Behind the log'),
    say('Versão', 'Version'),
    say('Geração', 'Generation'),
    say('Reconstrução', 'State of a rebuild'),
    say('Reconstruir', 'Rebuild'),
  ],
  rows.map((row) => rowOf(context, row)),
  say('Nenhuma projeção.', 'No projection.'),
)}`,
    ),
  );
};

const rowOf = (context: PageContext, row: ProjectionRow) => {
  const { name, version, generation, lagSeconds } = row;
  const rebuild = context.say('Reconstruir', 'Rebuild');
  return [
    name,
    ageText(lagSeconds),
    version,
    generation,
    progressOf(context, row),
    html`<button name="projection" value="${name}" aria-label="${rebuild} ${name}">${rebuild}</button>`,
  ];
};

const progressOf = ({ say }: PageContext, { name, rebuilding, run }: ProjectionRow): Html => {
  const running = badge(say('em curso', 'running'), 'wait');
  if (rebuilding !== undefined) {
    const percent = Math.floor(rebuilding.progress * 100);
    const word = rebuilding.running ? running : badge(say('interrompida', 'interrupted'), 'bad');
    return html`${word} <progress max="100" value="${percent}" aria-label="${say('Reconstrução de', 'Rebuild of')} ${name}">${percent} %</progress> ${percent} %`;
  }
  if (run === undefined) return html`–`;
  const words = {
    running,
    done: badge(say('pronta', 'done'), 'good'),
    refused: badge(say('recusada', 'refused'), 'bad'),
  };
  return html`${words[run.state]} ${say(...run.detail)}`;
};

/** Up to this many rows are counted for a tile of the overview, which every sign-in opens. */
export const MOST_COUNTED = 1_000;

type OverviewFacts = {
  roles: readonly RoleHealth[];
  checks: readonly CheckHealth[];
  waiting: readonly WaitingWork[];
  /** This count and the next may end one above `MOST_COUNTED`. */
  indeterminate: number;
  /** Failed live cancellations that support has not settled or closed. */
  cancellations: number;
  stopped: readonly StoppedSeries[] | 'unknown';
  parked: ParkedIn;
  /** Companies whose certificate has fewer than 30 days left or has expired. */
  certificates: number;
  refused: readonly CertificateRefusal[];
  notices: readonly NoticeLine[];
};

export const overviewPage = (context: PageContext, facts: OverviewFacts): Html => {
  const { say } = context;
  return page(
    context,
    { title: say('Visão geral', 'Overview') },
    html`<section aria-labelledby="find"><h2 id="find">${say('Encontrar uma nota', 'Find an invoice')}</h2>${searchForm(context)}</section>
<section aria-labelledby="attention"><h2 id="attention">${say('Espera por você', 'Waits for you')}</h2>${attention(context, facts)}${facts.parked.unknown === undefined ? none : parkedUnknown(context, facts.parked.unknown)}${refusedList(context, facts.refused)}${stoppedList(context, facts.stopped)}${noticeList(context, facts.notices)}</section>
<section aria-labelledby="roles"><h2 id="roles">${say('Papéis', 'Roles')}</h2>${rolesTable(context, facts.roles)}</section>
<section aria-labelledby="work"><h2 id="work">${say('Trabalho sem resultado', 'Work without an outcome')}</h2>${waitingTable(context, facts.waiting)}</section>
<section aria-labelledby="process"><h2 id="process">${say('Este processo', 'This process')}</h2>${checksTable(context, facts.checks)}</section>`,
  );
};

/** Nothing ends these before 7 days have passed, so they have no tile that would stay red after the cure. */
const noticeList = (context: PageContext, notices: readonly NoticeLine[]): Html => {
  const { say } = context;
  return notices.length === 0
    ? none
    : html`<ul>${notices.map(({ notice, detail, seen, lastAt, lastStream }) => {
        const address = parseInvoiceStream(lastStream);
        const where = address === undefined ? lastStream : invoiceLink(publicInvoiceId(address.invoiceId));
        return html`<li>${badge(say('visto', 'seen'), 'bad')} <span lang="en">${notice.replaceAll('_', ' ')} (${detail})</span>, ${counted(seen, say('vez', 'time'), say('vezes', 'times'))}, ${say('a última', 'last')} ${timeOf(context, lastAt)}: ${where}</li>`;
      })}</ul><p>${say(
        'O autorizador tem outra coisa do que o log, ou devolveu um documento em que não se pode confiar. O que fazer:',
        'The authorizer holds something other than the log says, or returned a document that cannot be relied on. What to do:',
      )} <span class="mono">nfse doctor</span></p>`;
};

const stoppedList = (context: PageContext, stopped: OverviewFacts['stopped']): Html => {
  const { say, behind } = context;
  if (stopped === 'unknown' || (stopped.length === 0 && behind.includes('companies')))
    return html`<p>${badge(say('não se sabe', 'unknown'), 'wait')} ${
      stopped === 'unknown'
        ? say(
            'Não se sabe se uma série está parada, porque o log não responde.',
            'Whether a series is stopped is not known, because the log does not answer.',
          )
        : say('Não se sabe ainda se uma série está parada.', 'Whether a series is stopped is not known yet.')
    }</p>`;
  return stopped.length === 0
    ? html``
    : html`<ul>${stopped.map(
        ({ companyId, mode, series, since, ...why }) =>
          html`<li>${badge(say('parada', 'stopped'), 'bad')} ${say(
            `A série ${series} de ${nameOf(context, companyId)} (CNPJ ${companyId}) nada envia em ${modeText(context, mode)}`,
            `Series ${series} of CNPJ ${companyId} in ${mode} mode sends nothing`,
          )}${sinceText(context, since)}: ${stoppedCureText(context, why)}</li>`,
      )}</ul>`;
};

const attention = (
  { say, behind }: PageContext,
  { indeterminate, cancellations, parked, certificates }: OverviewFacts,
): Html => {
  const known = (reads: string, count: number | string): number | string => (behind.includes(reads) ? '?' : count);
  const bounded = (count: number): number | string => (count > MOST_COUNTED ? `${MOST_COUNTED}+` : count);
  const lines: readonly (readonly [count: number | string, path: string, one: string, many: string])[] = [
    [
      known('invoices', bounded(indeterminate)),
      'indeterminate',
      say('nota indeterminada', 'indeterminate invoice'),
      say('notas indeterminadas', 'indeterminate invoices'),
    ],
    [
      known('invoices', bounded(cancellations)),
      'cancellations',
      say('cancelamento que falhou', 'failed cancellation'),
      say('cancelamentos que falharam', 'failed cancellations'),
    ],
    [
      parked.unknown === undefined ? parked.count : '?',
      'parked',
      say('trabalho parado', 'parked work item'),
      say('trabalhos parados', 'parked work items'),
    ],
    [
      known('companies', certificates),
      'certificates',
      say('certificado perto do fim', 'certificate near its end'),
      say('certificados perto do fim', 'certificates near their end'),
    ],
  ];
  return html`<ul class="tiles">${lines.map(
    ([count, path, one, many]) =>
      html`<li class="${count === 0 ? 'calm' : 'alert'}"><a href="${ROOT}/${path}"><span class="count">${count}</span> ${count === 1 ? one : many}</a></li>`,
  )}</ul>`;
};

const rolesTable = ({ say }: PageContext, roles: readonly RoleHealth[]): Html => {
  const words = {
    ok: badge('ok', 'good'),
    bad: badge(say('problema', 'problem'), 'bad'),
    elsewhere: badge(say('outro processo', 'other process'), 'plain'),
  };
  return table(
    say('Saúde e atraso de cada papel', 'Health and lag of each role'),
    [say('Papel', 'Role'), say('Estado', 'State'), say('Roda aqui', 'Runs here'), say('Detalhes', 'Details')],
    roles.map(({ role, here, health, detail }) => [
      role,
      words[health],
      here ? say('sim', 'yes') : say('não', 'no'),
      say(...detail),
    ]),
    say('Nenhum papel.', 'No role.'),
  );
};

const OPEN_WORK: Readonly<Record<string, string>> = {
  queued: 'na fila',
  processing: 'em processamento',
  'to be canceled': 'a cancelar',
};

const waitingTable = (context: PageContext, waiting: readonly WaitingWork[]): Html => {
  const { say } = context;
  return table(
    say('Trabalho aberto por modo', 'Open work by mode'),
    [say('O quê', 'What'), say('Modo', 'Mode'), say('Quantas', 'Count'), say('A mais antiga há', 'Oldest for')],
    waiting.map(({ what, mode, count, oldestSeconds }) => [
      say(OPEN_WORK[what] ?? what, what),
      modeText(context, mode),
      count,
      ageText(oldestSeconds),
    ]),
    emptyText(context, 'deadlines', say('Nada está aberto.', 'Nothing is open.')),
  );
};

const checksTable = ({ say }: PageContext, checks: readonly CheckHealth[]): Html =>
  table(
    say('Verificações de /health/ready', 'Checks of /health/ready'),
    [say('Verificação', 'Check'), say('Estado', 'State'), say('Motivo', 'Reason')],
    checks.map(({ name, ok, detail }) => [
      html`<span lang="en">${name.replaceAll('_', ' ')}</span>`,
      ok ? badge('ok', 'good') : badge(say('falhou', 'failed'), 'bad'),
      detail === '' ? '–' : html`<span lang="en">${detail}</span>`,
    ]),
    say('Nenhuma verificação.', 'No check.'),
  );
