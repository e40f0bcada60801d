import type { Hono } from 'hono';
import { html } from 'hono/html';
import { appendAudit } from '../../app/audit/audit-trail.js';
import { noteXmlOf } from '../../app/download/download.js';
import { SETTLE_ENDS, type SettleCommand, type SettleResult } from '../../app/operator/settlement/settle-invoice.js';
import {
  type InvoiceCase,
  loadCase,
  personalLines,
  shortActor,
  type TimelineEntry,
} from '../../app/operator/support/invoice-case.js';
import { findStream } from '../../app/operator/support/search.js';
import { endsSettled, isSentTwice, lastEnd } from '../../app/operator/support/settled-ends.js';
import { typedAccessKeys } from '../../app/operator/support/typed-text.js';
import { waitsOf } from '../../app/operator/support/waits-for.js';
import { loadInvoice } from '../../app/read/read-invoice.js';
import { parseInvoiceId } from '../../domain/common/ids.js';
import { visibleCharacters } from '../../lib/printable.js';
import type { ConsoleDeps } from '../deps.js';
import { eventName } from '../event-names.js';
import { actingOperator, type ConsoleContext, type ConsoleEnv } from '../guard.js';
import { clockText, emptyText, type Html } from '../pages/elements.js';
import { invoicePage, type Revealed } from '../pages/invoice.js';
import { messagePage, type Notice, nameNeeded, type PageContext, ROOT } from '../pages/layout.js';
import { evidenceText, reasonOf } from '../pages/reasons.js';
import { hasEnd, settleChoices, type TypedSettlement } from '../pages/settle.js';
import { sealedBody, withSentences } from './lists.js';

/** Pages of one invoice: its events, its sealed fields and documents (a recorded look) and its settlement. */
export const invoiceRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps): void => {
  app.get(`${ROOT}/invoices/:id`, async (c) => {
    const found = await caseOf(c.req.param('id'), deps);
    if (found === undefined) return noInvoice(c);
    const { say } = c.get('page');
    const text =
      found.timeline.at(-1)?.event === 'CancellationClosedBySupport'
        ? say(
            'Resolvida e registrada. A nota continua válida, e para o cliente nada muda.',
            'Settled, and on record. The note stays valid, and nothing changes for the client.',
          )
        : say(
            'Resolvida e registrada. O cliente vê na próxima consulta.',
            'Settled, and on record. The client sees it at the next read.',
          );
    // Any link may carry this parameter.
    const isNew = c.req.query('settled') === '1' && endsSettled(found.timeline);
    const notice: Notice | undefined = isNew ? { tone: 'good', text } : undefined;
    return c.html(invoicePage(c.get('page'), { ...(await shownOf(found, deps)), notice }));
  });

  app.post(`${ROOT}/invoices/:id/reveal`, async (c) => {
    const found = await caseOf(c.req.param('id'), deps);
    if (found === undefined) return noInvoice(c);
    const page = c.get('page');
    const operator = actingOperator(c);
    if (operator === undefined)
      return c.html(invoicePage(page, { ...(await shownOf(found, deps)), notRevealed: nameNeeded(page) }), 400);
    const { store, clock } = deps;
    const seen = { command: 'console', subject: found.stream };
    await appendAudit('PersonalDataRevealed', seen, { store, clock, actor: `support:${operator}` });
    return c.html(invoicePage(page, { ...(await shownOf(found, deps)), revealed: await revealedOf(found, deps) }));
  });

  app.post(`${ROOT}/invoices/:id/settle`, async (c) => {
    const id = c.req.param('id');
    const found = await caseOf(id, deps);
    if (found === undefined) return noInvoice(c);
    const page = c.get('page');
    const field = c.get('field');
    const typed = {
      as: field('as'),
      accessKey: field('access_key').trim(),
      otherSales: field('other_sales').trim(),
      evidence: field('evidence').trim(),
    };
    const operator = actingOperator(c);
    const again = async (text: Notice['text'], tone: Notice['tone'], status: 400 | 409) => {
      const current = (await caseOf(id, deps)) ?? found;
      return c.html(invoicePage(page, { ...(await shownOf(current, deps)), typed, notice: { tone, text } }), status);
    };
    if (operator === undefined) return await again(nameNeeded(page), 'bad', 400);
    const command = readSettlement(found, typed, page);
    if ('problem' in command) return await again(command.problem, 'bad', 400);
    const result = await deps.settle(command, operator);
    const isRecorded =
      result.kind === 'settled' || (result.kind === 'already_so' && (await isSentTwice(command, operator, deps.store)));
    if (isRecorded) return c.redirect(`${ROOT}/invoices/${id}?settled=1`, 303);
    // A colleague may have settled the invoice while the authorizer was asked.
    const { timeline } = (await caseOf(id, deps)) ?? found;
    const end = lastEnd(result.kind === 'already_so' ? timeline : timeline.slice(found.timeline.length), command.as);
    if (end !== undefined || result.kind === 'already_so') return await again(alreadyText(end, page), 'wait', 409);
    return await again(refusalText(result, page), result.kind === 'ask_again' ? 'wait' : 'bad', 409);
  });
};

const noInvoice = (c: ConsoleContext): Response | Promise<Response> => {
  const { say } = c.get('page');
  const text = say(
    'Nenhuma empresa tem uma nota com este id, ou seus 7 dias acabaram.',
    'No company has an invoice of this id, or its 7 days are over.',
  );
  const page = c.get('page');
  const title = page.behind.includes('companies')
    ? say('Nota não encontrada', 'Invoice not found')
    : say('Nota inexistente', 'No such invoice');
  return c.html(messagePage(page, title, emptyText(page, 'companies', text)), 404);
};

/** What a page of an invoice shows without what is sealed. */
const shownOf = async (found: InvoiceCase, deps: ConsoleDeps) => {
  const now = deps.clock.now();
  const { state, stream } = found;
  const isSimulated = await hasSimulatorsNote(found, deps);
  const shown = { case: found, isSimulated };
  if (state.kind !== 'invoice') return { ...shown, waits: undefined, sentences: [], choices: [], body: undefined };
  // What holds a send is asked of the vault and other rows: without them the page shows the rest, and keeps what was typed.
  const waits = await waitsOf(stream, state, { ...deps, clock: { now: () => now } }).catch((error: unknown) => {
    deps.onFault(error);
    return undefined;
  });
  const of = state.outcome.status === 'open' ? ('invoice' as const) : ('cancellation' as const);
  const { sentences } = withSentences({ stream, createdAt: state.facts.createdAt ?? '', state }, deps, now);
  const known = { ...shown, waits: waits && { waits, asOf: now, of } };
  return { ...known, sentences, choices: settleChoices(state, now), body: sealedBody(state, deps, now) };
};

/** Only the certificate of the opened note is looked at. A note that cannot be opened or read keeps no page from support. */
const hasSimulatorsNote = async (
  { stream, state }: InvoiceCase,
  { store, isSimulatorsNote }: ConsoleDeps,
): Promise<boolean> => {
  if (state.kind !== 'invoice' || state.outcome.status !== 'issued') return false;
  const xml = await noteXmlOf(stream, store).catch(() => undefined);
  return xml !== undefined && isSimulatorsNote(xml);
};

type BodyWithLinks = { links?: { pdf: string; xml: string } };

const revealedOf = async ({ stream, address }: InvoiceCase, deps: ConsoleDeps): Promise<Revealed> => {
  const [lines, { state }] = await Promise.all([personalLines(stream, deps.store), loadInvoice(stream, deps.store)]);
  const now = deps.clock.now();
  const body = state.kind === 'invoice' ? deps.bodyOf(state, now) : undefined;
  const { links }: BodyWithLinks = body ?? {};
  const token = links && encodeURIComponent(deps.downloadToken(address, now));
  const documents = links && { pdf: `${links.pdf}?t=${token}`, xml: `${links.xml}?t=${token}` };
  return { lines, body, documents };
};

const caseOf = async (id: string, deps: ConsoleDeps): Promise<InvoiceCase | undefined> => {
  if (parseInvoiceId(id) === undefined) return undefined;
  const stream = await findStream(id, deps);
  return stream === undefined ? undefined : await loadCase(stream, deps);
};

const readSettlement = (
  { stream, state, timeline }: InvoiceCase,
  { as, accessKey, otherSales, evidence }: TypedSettlement,
  page: PageContext,
): SettleCommand | { problem: Notice['text'] } => {
  const { say, now } = page;
  const choices = state.kind === 'invoice' ? settleChoices(state, now) : [];
  const wanted = SETTLE_ENDS.find((one) => one === as);
  const isOffered = choices.some((one) => one.as === wanted);
  // A form that is sent a second time is answered by the settlement itself, which finds that the invoice has this end.
  const isAlready = wanted !== undefined && state.kind === 'invoice' && hasEnd(state, wanted);
  const otherEnd = wanted === undefined || isOffered || isAlready ? undefined : lastEnd(timeline, wanted);
  if (otherEnd !== undefined) return { problem: alreadyText(otherEnd, page) };
  if (choices.length === 0 && !isAlready)
    return {
      problem: say(
        'Já não há nada a resolver aqui: veja o que foi registrado.',
        'There is nothing to settle here any more: see what was recorded.',
      ),
    };
  const end = isOffered || isAlready ? wanted : undefined;
  if (end === undefined)
    return { problem: say('Escolha como a nota é resolvida.', 'Choose what the invoice is settled as.') };
  if (evidence === '')
    return {
      problem: say(
        'Diga em que isto se apoia: a evidência é obrigatória.',
        'Say what the settlement rests on: the evidence is required.',
      ),
    };
  const keys = typedAccessKeys(end === 'issued' ? accessKey : end === 'failed' ? otherSales : '');
  if (keys?.length === 0) return { stream, as: end, evidence };
  const [key, another] = keys ?? [];
  if (keys === undefined || key === undefined || (end === 'issued' && another !== undefined))
    return {
      problem: say(
        'Uma chave de acesso tem 50 caracteres, e o último é um dígito verificador.',
        'An access key has 50 characters, and its last one is a check digit.',
      ),
    };
  return end === 'issued'
    ? { stream, as: end, evidence, accessKey: key }
    : { stream, as: end, evidence, otherSales: keys };
};

/** Who ended it before, when and how. Nothing of the form that this answers was recorded. */
const alreadyText = (end: TimelineEntry | undefined, page: PageContext): Html => {
  const { say } = page;
  const lost = say('O que você digitou não foi registrado.', 'What you typed was not recorded.');
  if (end === undefined) return html`${say('Já estava resolvida.', 'It was settled already.')} ${lost}`;
  const { at, event, who, evidence } = end;
  const name = visibleCharacters(shortActor(who).replace(/^support:/, ''));
  return html`${say('Já estava resolvida por', 'It was settled already by')} ${name} ${say('em', 'at')} ${clockText(page, at)}: ${eventName(event, say)} (<span lang="en">${visibleCharacters(evidenceText(page, evidence))}</span>). ${lost}`;
};

const refusalText = (result: Extract<SettleResult, { kind: 'refused' | 'ask_again' }>, page: PageContext): Html => {
  const { say } = page;
  return result.kind === 'refused'
    ? html`${say('Não resolvida', 'Not settled')}: ${reasonOf(page, result.reason)}.`
    : html`${say('Ainda não resolvida', 'Not settled yet')}: ${reasonOf(page, result.detail)}. ${say('Envie este formulário de novo depois de', 'Send this form again after')} ${clockText(page, result.at)}.`;
};
