import { html } from 'hono/html';
import type { InvoiceCase, PersonalLine, TimelineEntry } from '../../app/operator/support/invoice-case.js';
import { shortActor } from '../../app/operator/support/invoice-case.js';
import { type Mode, publicInvoiceId } from '../../domain/common/ids.js';
import type { Instant } from '../../domain/common/time.js';
import type { CanceledElsewhere, Cancellation, CancelSend, Invoice, InvoiceState } from '../../domain/invoice/state.js';
import { invoiceStatus } from '../../domain/invoice/status.js';
import { visibleCharacters } from '../../lib/printable.js';
import { eventName } from '../event-names.js';
import {
  ageOf,
  companyOf,
  copied,
  facts,
  type Html,
  modeText,
  none,
  reais,
  statusBadge,
  table,
  timeOf,
} from './elements.js';
import { form, type Notice, noticeOf, operatorField, type PageContext, page, ROOT } from './layout.js';
import { evidenceText } from './reasons.js';
import { type SettleChoice, settleForm, type TypedSettlement } from './settle.js';
import { type Waits, waitsFacts } from './waits.js';

/** What is shown once, after the look was recorded: sealed fields, the body as the API shows it, and links that open the documents for minutes. */
export type Revealed = {
  lines: readonly PersonalLine[];
  body: object | undefined;
  documents: { pdf: string; xml: string } | undefined;
};

type InvoicePage = {
  case: InvoiceCase;
  /** A simulator made the note. */
  isSimulated: boolean;
  notice?: Notice | undefined;
  /** While something is open. */
  waits: Waits | undefined;
  /** The sentences that the client got. */
  sentences: readonly string[];
  choices: readonly SettleChoice[];
  /** The body as the API shows it, with what is sealed left out. */
  body: object | undefined;
  revealed?: Revealed;
  /** Why nothing was revealed. */
  notRevealed?: string;
  /** Input of a settlement that was refused. */
  typed?: TypedSettlement;
};

/** While something may still change by itself. */
const RELOAD_SECONDS = 10;

export const invoicePage = (context: PageContext, shown: InvoicePage): Html => {
  const { say } = context;
  const { address, state, timeline } = shown.case;
  const id = publicInvoiceId(address.invoiceId);
  const invoice = state.kind === 'invoice' ? state : undefined;
  const isMoving = invoice?.outcome.status === 'open' || invoice?.cancellation?.status === 'pending';
  return page(
    context,
    {
      title: `${say('Nota', 'Invoice')} ${id}`,
      notice: shown.notice,
      reloadSeconds: isMoving ? RELOAD_SECONDS : undefined,
    },
    html`<section aria-labelledby="facts"><h2 id="facts">${say('Fatos', 'Facts')}</h2>${summary(context, shown)}</section>
${settleForm(context, id, shown.choices, shown.typed)}
<section aria-labelledby="timeline"><h2 id="timeline">${say('Linha do tempo', 'Timeline')}</h2>
${table(
  say('O que aconteceu, o mais antigo primeiro', 'What happened, oldest first'),
  [
    say('Quando', 'When'),
    say('Evento', 'Event'),
    say('Quem', 'Who'),
    say('Evidência', 'Evidence'),
    say('Id da requisição', 'Request id'),
  ],
  timeline.map(({ at, event, who, evidence, request_id }) => [
    timeOf(context, at),
    html`${eventName(event, say)} <span class="mono" lang="en">${event}</span>`,
    shortActor(who),
    html`<span class="mono" lang="en">${visibleCharacters(evidenceText(context, evidence))}</span>`,
    html`<span class="mono">${request_id}</span>`,
  ]),
  say('Nada foi registrado.', 'Nothing is recorded.'),
)}</section>
${invoice === undefined ? none : attempts(context, invoice, timeline)}
${lookups(context, shown)}
${invoice === undefined ? none : bodySection(context, shown)}
${invoice === undefined ? none : personal(context, id, shown)}`,
  );
};

const summary = (
  context: PageContext,
  { case: { address, state, stream }, isSimulated, sentences, waits }: InvoicePage,
): Html => {
  const { say } = context;
  const owner = [
    [say('Empresa', 'Company'), companyOf(context, address.companyId)],
    [say('Modo', 'Mode'), modeText(context, address.mode)],
  ] as const;
  if (state.kind !== 'invoice')
    return facts([[say('Estado', 'State'), say(...NO_INVOICE[state.kind])], ...owner, ['Stream', stream]]);
  const { facts: known, outcome, cancellation, canceledElsewhere } = state;
  const ended = outcome.status === 'indeterminate' || outcome.status === 'failed' ? outcome.failedAt : undefined;
  const status = statusBadge(context, invoiceStatus(state));
  const accessKey = outcome.status === 'issued' ? outcome.accessKey : undefined;
  return facts([
    [
      say('Situação', 'Status'),
      outcome.status === 'indeterminate' ? html`${status} ${ageOf(context, ended ?? known.createdAt ?? '')}` : status,
    ],
    ...sentences.map(
      (one) =>
        [
          say('O cliente leu', 'The client got'),
          html`<q class="sentence" lang="pt-BR">${visibleCharacters(one)}</q>`,
        ] as const,
    ),
    ...waitsFacts(context, waits),
    ...owner,
    ['Id', copied(context, publicInvoiceId(address.invoiceId), 'id')],
    [say('Valor', 'Amount'), reais(known.amountInCents)],
    [say('Referência', 'Reference'), known.reference ?? '–'],
    [say('Criada', 'Created'), timeOf(context, known.createdAt)],
    ...(outcome.status === 'issued'
      ? ([
          [say('Emitida', 'Issued'), timeOf(context, outcome.issuedAt)],
          [say('Número', 'Number'), outcome.nfseNumber ?? '–'],
          [
            say('Chave de acesso', 'Access key'),
            accessKey === undefined
              ? '–'
              : html`${copied(context, accessKey, say('a chave', 'the key'))}${isSimulated ? noConsultation(context) : consultation(context, address.mode, accessKey)}`,
          ],
        ] as const)
      : []),
    ...(ended === undefined ? [] : ([[say('Encerrada', 'Ended'), timeOf(context, ended)]] as const)),
    ...(cancellation === undefined
      ? []
      : ([
          [
            say('Cancelamento', 'Cancellation'),
            html`${statusBadge(context, cancellation.status)} ${say('pedido', 'requested')} ${timeOf(context, cancellation.requestedAt)}`,
          ],
        ] as const)),
    ...elsewhere(context, canceledElsewhere),
    ['Stream', html`<span class="mono">${stream}</span>`],
  ]);
};

/** What a stream without an invoice is. */
const NO_INVOICE: Readonly<Record<Exclude<InvoiceState['kind'], 'invoice'>, readonly [string, string]>> = {
  none: ['não há nota', 'no invoice'],
  reference_taken: [
    'a referência é de uma nota importada, que tem outro id',
    'the reference is of an imported invoice, which has another id',
  ],
  deleted: [
    'apagada: a vida desta nota de teste acabou, e a referência continua usada',
    'deleted: the life of this test invoice is over, and its reference stays taken',
  ],
};

const CONSULTATION = {
  live: 'https://www.nfse.gov.br/ConsultaPublica/?tpc=1&chave=',
  test: 'https://www.producaorestrita.nfse.gov.br/ConsultaPublica/?tpc=1&chave=',
} as const;

const noConsultation = ({ say }: PageContext): Html =>
  html`<br>${say('nota do simulador: não está no sistema nacional', 'note of the simulator: not in the national system')}`;

const consultation = ({ say }: PageContext, mode: Mode, accessKey: string): Html =>
  html`<br><a href="${CONSULTATION[mode]}${accessKey}" rel="noreferrer external">${say('Consulta nacional', 'National consultation')}</a>`;

const elsewhere = (
  context: PageContext,
  event: CanceledElsewhere | undefined,
): readonly (readonly [string, Html | string])[] => {
  if (event === undefined) return [];
  const { say } = context;
  const { eventType, canceledAt, replacedBy } = event;
  return [
    [
      say('Cancelada fora daqui', 'Canceled elsewhere'),
      html`${say('evento', 'event')} ${eventType}, ${timeOf(context, canceledAt)}`,
    ],
    ...(replacedBy === undefined
      ? []
      : ([[say('Substituída por', 'Replaced by'), copied(context, replacedBy, say('a chave', 'the key'))]] as const)),
  ];
};

/** What became of a send, in Portuguese. */
const RESOLUTIONS: Readonly<Record<string, string>> = {
  open: 'aberta',
  authorized: 'autorizada',
  rejected: 'recusada',
  not_sent: 'não chegou',
  unknown: 'desconhecido',
  absent: 'ausência comprovada',
  foreign: 'nota de outro',
  confirmed: 'confirmada',
};

/** When the event of the outcome was recorded here. The authorizer's instant of a cancellation is by another clock, in whole seconds. */
type KnownOfCancellation = { isElsewhere: boolean; refusedAt: Instant | undefined; canceledAt: Instant | undefined };

/** Shows the outcome of the cancellation on its last send, because the fold leaves that send open or unknown, also where look-ups made a refusal final. */
const shownSend = (
  send: CancelSend,
  { sends, status, codes }: Cancellation,
  { isElsewhere, refusedAt, canceledAt }: KnownOfCancellation,
) => {
  if (send !== sends.at(-1)) return send;
  if (status === 'failed' && codes.length > 0)
    return { ...send, resolution: 'rejected', codes, resolvedAt: refusedAt ?? send.resolvedAt };
  const isUndecided = send.resolution === 'open' || send.resolution === 'unknown';
  return status === 'succeeded' && isUndecided && !isElsewhere
    ? { ...send, resolution: 'confirmed', resolvedAt: canceledAt }
    : send;
};

const attempts = (
  context: PageContext,
  { attempts: sends, cancellation, canceledElsewhere }: Invoice,
  timeline: readonly TimelineEntry[],
): Html => {
  const { say } = context;
  const recordedAt = (...names: readonly string[]) => timeline.findLast(({ event }) => names.includes(event))?.at;
  const known = {
    isElsewhere: canceledElsewhere !== undefined,
    refusedAt: recordedAt('CancellationNotConfirmed'),
    canceledAt: recordedAt('CancellationConfirmed', 'CancellationSettledBySupport'),
  };
  const canceling = cancellation?.sends.map((one) => shownSend(one, cancellation, known)) ?? [];
  const rows = [
    ...sends.map((one) => ({ what: `${say('emissão', 'issue')} ${one.attempt}`, id: one.dpsId, ...one })),
    ...canceling.map((one) => ({
      what: `${say('cancelamento', 'cancel')} ${one.attempt}`,
      id: one.requestId,
      ...one,
    })),
  ];
  return html`<section aria-labelledby="attempts"><h2 id="attempts">${say('Tentativas', 'Attempts')}</h2>${table(
    say('O que foi enviado ao autorizador', 'What was sent to the authorizer'),
    [
      say('Tentativa', 'Attempt'),
      say('Resultado', 'Outcome'),
      say('Códigos', 'Codes'),
      say('Enviada', 'Sent'),
      say('Resultado em', 'Outcome at'),
      say('Id da DPS ou do pedido', 'DPS or request id'),
    ],
    rows.map(({ what, resolution, codes, attemptedAt, resolvedAt, id }) => [
      what,
      say(RESOLUTIONS[resolution] ?? resolution, resolution.replaceAll('_', ' ')),
      codes.length === 0 ? '–' : codes.join(' '),
      timeOf(context, attemptedAt),
      timeOf(context, resolvedAt),
      copied(context, id, 'id'),
    ]),
    say('Nada foi enviado.', 'Nothing was sent.'),
  )}</section>`;
};

/** Nothing is left for a look-up to find out. */
const isSettled = (state: InvoiceState): boolean =>
  state.kind === 'invoice' &&
  (state.outcome.status === 'issued' || state.outcome.status === 'failed') &&
  state.cancellation?.status !== 'pending';

/** Each look-up with the reason why its send had to be looked for. For a cancellation only events after the last request count. */
const lookups = (context: PageContext, { case: { lookups: asked, timeline, state } }: InvoicePage): Html => {
  if (asked.length === 0) return none;
  const { say } = context;
  const reasonOf = (work: string): string => {
    const [kind, ...rest] = work.split('/');
    const event = kind === 'cancel' ? 'CancellationOutcomeUnknown' : 'IssuanceOutcomeUnknown';
    const requested = timeline.findLastIndex((entry) => entry.event === 'CancellationRequested');
    const unknown = (kind === 'cancel' ? timeline.slice(requested) : timeline).findLast(
      (entry) => entry.event === event && (kind === 'settle' || entry.evidence.startsWith(`attempt ${rest.at(-1)}:`)),
    );
    return unknown?.evidence ?? say('o processo terminou sem resposta', 'the process ended without an answer');
  };
  return html`<section aria-labelledby="lookups"><h2 id="lookups">${say('Consultas', 'Look-ups')}</h2>${table(
    isSettled(state)
      ? say('Consultas que foram feitas', 'Look-ups that were made')
      : say('Consultas que ainda não decidiram nada', 'Look-ups that have not settled anything yet'),
    [
      say('De', 'Of'),
      say('Por quê', 'Why'),
      say('Feitas', 'Asked'),
      say('A última', 'Last'),
      say('A primeira que nada achou', 'First "not there"'),
    ],
    asked.map(({ work, asked: times, lastAskedAt, firstAbsentAt }) => [
      html`<span class="mono">${work}</span>`,
      html`<span lang="en">${evidenceText(context, reasonOf(work))}</span>`,
      times,
      timeOf(context, lastAskedAt),
      timeOf(context, firstAbsentAt),
    ]),
    say('Nenhuma.', 'None.'),
  )}</section>`;
};

const bodySection = ({ say }: PageContext, { body, revealed }: InvoicePage): Html => {
  const shown = revealed?.body ?? body;
  if (shown === undefined) return none;
  return html`<section aria-labelledby="body"><h2 id="body">${say('Como a API mostra', 'As the API shows it')}</h2>
<pre class="mono" tabindex="0">${visibleCharacters(JSON.stringify(shown, null, 2))}</pre></section>`;
};

/** The names of personal lines, in Portuguese. A number may follow. */
const PERSONAL_LABELS: Readonly<Record<string, string>> = {
  Customer: 'Tomador',
  'CPF or CNPJ': 'CPF ou CNPJ',
  'Tax id': 'NIF',
  'Reason without tax id': 'Motivo da falta de NIF',
  Address: 'Endereço',
  Description: 'Descrição',
  Cancellation: 'Cancelamento',
  'Authorizer, attempt': 'Autorizador, tentativa',
  'Authorizer, cancellation': 'Autorizador, cancelamento',
  'Evidence of support': 'Evidência do suporte',
};

const personalLabel = (name: string): string => {
  const [, words = name, number = ''] = /^(.*?)( \d+)?$/.exec(name) ?? [];
  return `${PERSONAL_LABELS[words] ?? words}${number}`;
};

const personal = (context: PageContext, id: string, { revealed, notRevealed }: InvoicePage): Html => {
  const { say } = context;
  return html`<section aria-labelledby="personal"><h2 id="personal">${say('Tomador, textos e documentos', 'Customer, texts and documents')}</h2>${noticeOf(notRevealed === undefined ? undefined : { tone: 'bad', text: notRevealed })}${
    revealed === undefined
      ? form(
          context,
          `${ROOT}/invoices/${id}/reveal#personal`,
          html`<p>${say(
            'Tomador, descrições, PDF, XML e as palavras do autorizador são selados. Cada consulta fica registrada.',
            "Customer, descriptions, PDF, XML and the authorizer's own words are sealed. Each look is recorded.",
          )}</p>
${operatorField(context, 'reveal-operator')}<p><button class="quiet">${say('Mostrar', 'Show them')}</button></p>`,
        )
      : html`${
          revealed.lines.length === 0
            ? html`<p class="empty">${say('Não há, ou sua chave foi destruída.', 'There are none, or their key was destroyed.')}</p>`
            : facts(revealed.lines.map(({ name, value }) => [say(personalLabel(name), name), value]))
        }${documents(context, revealed)}`
  }</section>`;
};

const documents = ({ say }: PageContext, { documents: links }: Revealed): Html =>
  links === undefined
    ? none
    : html`<p><a href="${links.pdf}" rel="noreferrer">PDF</a> · <a href="${links.xml}" rel="noreferrer">XML</a> <span class="hint">${say(
        'Os endereços da API abrem por alguns minutos.',
        'The addresses of the API open for some minutes.',
      )}</span></p>`;
