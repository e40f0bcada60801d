import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventName } from '../../src/console/event-names.js';
import { sayIn } from '../../src/console/language.js';
import { sealedBody } from '../../src/console/routes/lists.js';
import type { Company } from '../../src/domain/company/company.js';
import { type InvoiceEvent, invoiceEventTypes } from '../../src/domain/invoice/events.js';
import { type Cancellation, type Invoice, personalFacts } from '../../src/domain/invoice/state.js';
import { invoiceView } from '../../src/http/invoice-body.js';
import { DEMO_CNPJ, demoCompany } from '../support/fixture/demo.js';
import {
  accepted,
  at,
  cancelAttempted,
  cancelConfirmed,
  cancelNotConfirmed,
  cancelRequested,
  cancelUnknown,
  confirmationData,
  conflictFound,
  givenInvoice,
} from '../support/fixture/invoice.js';
import { noteSignedBy } from '../support/fixture/signed-notes.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';
import { type ConsoleHarness, consoleHarness } from '../support/harness/console.js';
import { appendTo } from '../support/harness/event-store.js';

let harness: ConsoleHarness;
beforeEach(async () => {
  harness = await consoleHarness();
});

const portuguese = (path: string) => harness.visit(path, { headers: { 'accept-language': 'pt-BR' } });

describe('the list of invoices', () => {
  it('asks for what the filter says, by the days of Brasília, and keeps it in the form', async () => {
    const { status, text } = await harness.visit(
      '/console/invoices?status=indeterminate&mode=live&company=12.345.678/0001-95&since=2026-11-20&until=2026-11-21',
    );
    expect(status).toBe(200);
    expect(harness.filters).toEqual([
      {
        status: 'indeterminate',
        mode: 'live',
        companyId: '12345678000195',
        before: undefined,
        since: '2026-11-20T03:00:00.000Z',
        until: '2026-11-22T03:00:00.000Z',
      },
    ]);
    expect(text).toContain('<option value="indeterminate" selected>');
    expect(text).toContain('value="2026-11-20"');
    expect(text).toContain(harness.invoice);
    expect(text).toContain('ESTUDIO EXEMPLO LTDA');
  });

  it.each([' 12.345.678/0001-95 ', '12 345 678 0001 95', '12345678/0001-95'])(
    'takes the CNPJ %j, which its field does not cut',
    async (company) => {
      const { status, text } = await harness.visit(`/console/invoices?${new URLSearchParams({ company })}`);
      expect([status, harness.filters[0]?.companyId]).toEqual([200, '12345678000195']);
      expect(text).toMatch(/name="company" type="text"[^>]* maxlength="40"/);
    },
  );

  it('has no end for the last day that a date can name', async () => {
    for (const until of ['9999-12-30', '9999-12-31']) await harness.visit(`/console/invoices?until=${until}`);
    expect(harness.filters.map(({ until }) => until)).toEqual(['9999-12-31T03:00:00.000Z', undefined]);
  });

  it('keeps filter and page in the link to the other language and in the link to refresh', async () => {
    const [before, after] = ['/console/invoices?', 'status=failed&amp;since=2026-11-01'];
    for (const query of ['status=failed&since=2026-11-01', 'lang=en&status=failed&since=2026-11-01&lang=en']) {
      const { text } = await harness.visit(`${before}${query}`);
      expect(text).toContain(`<a href="${before}${after}">Refresh</a>`);
      expect(text).toContain(`<a href="${before}${after}&amp;lang=pt" lang="pt-BR"`);
    }
    expect((await portuguese('/console/parked')).text).toContain('<a href="/console/parked?lang=en" lang="en"');
  });

  it('leads from an older page back to the newest invoices of the same filter', async () => {
    const filter = 'status=failed&company=&mode=&since=&until=';
    const link = `<a href="/console/invoices?${filter.replaceAll('&', '&amp;')}">Newest invoices</a>`;
    expect((await harness.visit(`/console/invoices?${filter}`)).text).not.toContain('Newest invoices');
    const cursor = new URLSearchParams({ created_at: at(0), stream: harness.stream });
    expect((await harness.visit(`/console/invoices?${filter}&${cursor}`)).text).toContain(link);
  });

  it('shows a mark in place of each sealed field of an invoice', () => {
    const sealed = Object.fromEntries(personalFacts.map((field) => [field, 'sealed:1:m1:abc']));
    const { facts, ...rest } = givenInvoice(accepted());
    const body = sealedBody({ ...rest, facts: { ...facts, ...sealed } }, { bodyOf: invoiceView }, at(0));
    expect(body).toMatchObject({
      id: invoiceView(givenInvoice(accepted()), at(0)).id,
      customer: '…',
      description: '…',
    });
    expect(JSON.stringify(body)).not.toContain('sealed:');
  });

  it('shows the sentence that the client got', async () => {
    expect((await harness.visit('/console/invoices')).text).toContain('Não emita de novo: fale com o suporte.');
  });

  it.each([
    'status=gone',
    'mode=both',
    'since=21/11/2026',
    'until=2026-13-01',
    'since=2026-02-30',
    'company=%00',
    'company=MARIA',
    'company=123',
    'since=2026-11-22&until=2026-11-21',
  ])('refuses %s in words, and does not say that nothing was found', async (query) => {
    const { status, text } = await harness.visit(`/console/invoices?${query}`);
    expect([status, text]).toEqual([400, expect.stringContaining('role="alert"')]);
    expect(text).not.toContain('No invoice with this filter');
    expect(harness.filters).toEqual([]);
  });

  it('takes one day alone, and says which days are in the wrong order', async () => {
    for (const query of ['since=2026-11-21&until=2026-11-21', 'since=2026-11-21', 'until=2026-11-21'])
      expect([query, (await harness.visit(`/console/invoices?${query}`)).status]).toEqual([query, 200]);
    const { text } = await harness.visit('/console/invoices?since=2026-11-22&until=2026-11-21');
    expect(text).toContain('The day “Created since” is after the day “Created until”.');
  });

  it('shows nothing personal', async () => {
    const { text } = await harness.visit('/console/invoices');
    expect(
      ['CLIENTE LTDA', '11111111000191', 'Desenvolvimento de sistema'].filter((one) => text.includes(one)),
    ).toEqual([]);
  });
});

it('failed cancellations are listed, counted on the overview, and settled as canceled or as valid', async () => {
  const [found] = await harness.rows();
  const state = found?.state as Invoice;
  const cancellation: Cancellation = {
    request: 1,
    status: 'failed',
    reason: 'other',
    requestedAt: at(10),
    sends: [],
    codes: ['E0822'],
  };
  const issued = { status: 'issued', issuedAt: at(5), accessKey: '3', nfseNumber: '1' } as const;
  if (found !== undefined) harness.canceling.push({ ...found, state: { ...state, outcome: issued, cancellation } });
  expect((await harness.visit('/console')).text).toMatch(/<span class="count">1<\/span> failed cancellation</);
  const { text } = await portuguese('/console/cancellations');
  const [one] = harness.canceling;
  while (one !== undefined && harness.canceling.length < 2_000) harness.canceling.push(one);
  expect((await harness.visit('/console')).text).toContain('<span class="count">1000+</span> failed cancellations<');
  harness.canceling.splice(1);
  expect(text).toContain('recusado</span> E0822');
  expect(text).toContain(`${harness.invoice}#settle`);
});

it('a stopped series is named on the overview, in both languages', async () => {
  const stopped = { companyId: '12345678000195', mode: 'live', isUsedUp: false, since: at(0) } as const;
  harness.stopped = [
    { ...stopped, series: '7' },
    { ...stopped, series: '8', isUsedUp: true },
  ];
  const { text } = await harness.visit('/console');
  expect(text).toContain('Series 7 of CNPJ 12345678000195 in live mode sends nothing since');
  expect(text).toMatch(/Series 8 of .*: its last number was given\. Put a company file with another series\./);
  expect((await portuguese('/console')).text).toContain(
    'A série 7 de ESTUDIO EXEMPLO LTDA (CNPJ 12345678000195) nada envia em produção (live) desde',
  );
});

it('a stopped series has the advice of the command line, which comes first where a copy was put back', async () => {
  const stopped = { companyId: '12345678000195', mode: 'live', series: '7', isUsedUp: false, since: at(0) } as const;
  const wordsOf = (text: string): string =>
    (/<li>.*?7 (?:of|de) .*?<\/li>/s.exec(text)?.[0] ?? '').replaceAll(/<[^>]*>/g, '');
  harness.stopped = [stopped];
  expect(wordsOf((await harness.visit('/console')).text)).toMatch(
    /Where a copy of the log or of DATA_DIR was put back, a later number would issue again .* There: nfse restore --mark, then nfse doctor --reconcile\. Else put a company file whose next number/,
  );
  expect(wordsOf((await portuguese('/console')).text)).toMatch(
    /Se uma cópia do log ou de DATA_DIR foi posta de volta, .* Nesse caso: nfse restore --mark, depois nfse doctor --reconcile\. Senão, grave um arquivo de empresa/,
  );
  harness.stopped = [{ ...stopped, comparedAt: at(60) }];
  expect(wordsOf((await harness.visit('/console')).text)).toMatch(
    /Then put a company file .* Only where a copy .* after the comparison that ended at 2026-11-21 09:01:00\.000, first: nfse restore --mark, then nfse doctor --reconcile\./,
  );
  expect(wordsOf((await portuguese('/console')).text)).toMatch(
    /Depois grave um arquivo .* Só se uma cópia .* depois da comparação que terminou em 21\/11\/2026 09:01:00\.000, antes disso: nfse restore --mark, depois nfse doctor --reconcile\./,
  );
  const { since: _since, ...ofUnknownTime } = stopped;
  harness.stopped = [{ ...ofUnknownTime, unreadable: { of: 'numbers', why: 'event type X' } }];
  expect(wordsOf((await harness.visit('/console')).text)).toContain('sends nothing: the newest event of its numbers');
  harness.stopped = [{ ...stopped, unreadable: { of: 'comparison', why: 'event type X' } }];
  expect(wordsOf((await harness.visit('/console')).text)).toMatch(
    /a note that is not ours has .* an event cannot be read \(event type X\)\. .* There: nfse restore --mark, then nfse doctor --reconcile\. Else put/,
  );
  expect(wordsOf((await portuguese('/console')).text)).toMatch(
    /um evento não pode ser lido \(event type X\)\. .* Nesse caso: nfse restore --mark, depois nfse doctor --reconcile\. Senão, grave/,
  );
});

it('a name that reverses the direction of writing changes nothing around it', async () => {
  const named = await consoleHarness({}, { companyNames: new Map([[DEMO_CNPJ, 'LTDA \u202eTXET FIM']]) });
  const since = at(0);
  const which = { companyId: DEMO_CNPJ, mode: 'live', since } as const;
  named.stopped = [{ ...which, series: '7', isUsedUp: false }];
  named.refused.push({ ...which, certificateId: 'c', reason: 'refused', seen: 3, lastAt: at(1), probeAt: at(2) });
  const { text } = await named.visit('/console', { headers: { 'accept-language': 'pt-BR' } });
  expect([text.includes('\u202e'), text.match(/LTDA \\u202eTXET FIM \(CNPJ/g)?.length]).toEqual([false, 2]);
});

it('a difference of the reconciliation is on the overview, with its invoice and the command that says what to do', async () => {
  expect((await harness.visit('/console')).text).not.toContain('nfse doctor');
  const detail = 'live failed_but_found';
  const notice = { notice: 'reconciliation_difference', detail, seen: 1, lastAt: at(0), lastStream: harness.stream };
  harness.notices = [notice];
  const { text } = await harness.visit('/console');
  expect(text).toContain('reconciliation difference (live failed_but_found)</span>, 1 time, last');
  expect(text).toContain(`<a href="${harness.invoice}">`);
  expect(text).toContain('nfse doctor');
});

describe('while rows are behind the log, as after a restore', () => {
  beforeEach(() => {
    harness.behind = ['invoices', 'companies', 'deadlines'];
    harness.companies = [];
  });

  it('the overview says unknown in place of a count, and in place of nothing', async () => {
    const { text } = await harness.visit('/console');
    expect(text.match(/<span class="count">\?<\/span>/g)).toHaveLength(3);
    expect(text).toContain('Whether a series is stopped is not known yet.');
    expect(text).not.toContain('Nothing is open.');
  });

  it.each([
    ['/console/cancellations', 'No failed cancellation waits'],
    ['/console/certificates', 'No company is registered'],
    ['/console/invoices/nfse_00000000-0000-4000-8000-000000000000', 'No company has an invoice'],
  ])('%s does not say: %s', async (path, denied) => {
    const late = (await harness.visit(path)).text;
    expect(late).toContain('The rows of invoices, companies, deadlines are behind the log');
    expect([late.includes('Not known yet.'), late.includes(denied)]).toEqual([true, false]);
    harness.behind = [];
    expect((await harness.visit(path)).text).toContain(denied);
  });
});

describe('while the log does not say how late the rows are', () => {
  const DENIED = 'No failed cancellation waits';

  it('rows that were behind the log a moment ago still are', async () => {
    harness.behind = ['invoices'];
    await harness.visit('/console');
    harness.lag = 'fails';
    const { text } = await harness.visit('/console/cancellations');
    expect(text).toContain('The rows of invoices are behind the log');
    expect([text.includes('Not known yet.'), text.includes(DENIED)]).toEqual([true, false]);
  });

  it('rows that were complete a moment ago still are', async () => {
    await harness.visit('/console');
    harness.lag = 'fails';
    expect((await harness.visit('/console/cancellations')).text).toContain(DENIED);
  });

  it('nothing is known of any row before the first answer', async () => {
    harness.lag = 'fails';
    harness.companies = [];
    const { text } = await harness.visit('/console/cancellations');
    expect(text).toContain('Whether the rows are behind the log is not known');
    expect([text.includes('Not known yet.'), text.includes(DENIED)]).toEqual([true, false]);
    expect((await portuguese('/console')).text.match(/<span class="count">\?<\/span>/g)).toHaveLength(3);
  });

  it('a page waits no longer than a second for a log that is silent', async () => {
    harness.lag = 'silent';
    const pages = ['/console/parked', '/console/certificates', '/console/projections', '/console/nothing-here'];
    const answers = await Promise.all(pages.map((path) => harness.visit(path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
  });
});

describe('while an engine is lost', () => {
  it('the overview shows what does not depend on the queue, and says that parked work is not known', async () => {
    harness.queueLost = true;
    const { status, text } = await portuguese('/console');
    expect([status, text.includes('<span class="count">?</span> trabalhos parados')]).toEqual([200, true]);
    expect(text).toContain(
      'a fila não responde: <span lang="en">the work queue is not reachable (ECONNREFUSED)</span>',
    );
    expect(text).toContain('<span class="count">1</span> nota indeterminada');
  });

  it('the page of parked work says why it is not known, also after a try again', async () => {
    harness.queueLost = true;
    const seen = await harness.visit('/console/parked');
    expect([seen.status, seen.text]).toEqual([503, expect.stringContaining('Check NATS_URL and the NATS server')]);
    for (const fields of [{ operator: 'ana', stream: 'all' }, { operator: 'ana', stream: harness.stream }, {}]) {
      const sent = await harness.send('/console/parked/retry', fields);
      expect([sent.status, sent.text]).toEqual([503, expect.stringContaining('Check NATS_URL and the NATS server')]);
    }
    expect([harness.faults, await harness.onRecord()]).toEqual([[], []]);
  });

  it('the overview says that stopped series are not known without the log', async () => {
    harness.stopped = 'unknown';
    const { status, text } = await portuguese('/console');
    expect([status, text]).toEqual([200, expect.stringContaining('Não se sabe se uma série está parada')]);
  });
});

it('a refused certificate and simulated modes have the names of the modes that the other pages use', async () => {
  const simulated = await consoleHarness({}, { simulatedModes: ['live', 'test'] });
  simulated.refused.push({
    companyId: '12345678000195',
    mode: 'test',
    certificateId: 'c',
    reason: 'refused',
    seen: 3,
    since: at(0),
    lastAt: at(1),
    probeAt: at(2),
  });
  const pt = (await simulated.visit('/console', { headers: { 'accept-language': 'pt-BR' } })).text;
  expect(pt).toContain('o simulador atende produção (live) e teste. Suas');
  expect(pt).toContain('(CNPJ 12345678000195) em teste desde');
  const en = (await simulated.visit('/console')).text;
  expect(en).toContain('the simulator serves live and test mode. Its');
  expect(en).toContain('CNPJ 12345678000195 in test mode since');
});

it('a certificate whose key cannot be used is not called good', async () => {
  const facts = { certificateId: 'c', notBefore: at(0), notAfter: at(100 * 86_400), fingerprint: 'f' };
  const listed = async (certificate: Company['certificate']) => {
    harness.companies = [{ ...demoCompany(DEMO_CNPJ), ...(certificate && { certificate }) }];
    return (await harness.visit('/console/certificates')).text;
  };
  expect(await listed(facts)).toContain('good</span>');
  const bad = await listed({ ...facts, unusable: 'key_size' });
  expect([bad.includes('good</span>'), bad.includes('cannot be used</span>')]).toEqual([false, true]);
});

it('of thousands of certificates lists 200 with those that end next, counts all, and finds others by CNPJ', async () => {
  const one = (n: number, days: number): Company => ({
    ...demoCompany(`${10_000_000_000_000 + n}`),
    certificate: { certificateId: 'c', notBefore: at(0), notAfter: at((days + 0.5) * 86_400), fingerprint: 'f' },
  });
  harness.companies = Array.from({ length: 1_500 }, (_, n) => one(n, n - 1_000));
  const listed = async (query = '') => {
    const { text } = await harness.visit(`/console/certificates${query}`);
    return {
      text,
      cnpjs: [...text.matchAll(/<tr role="row"><th scope="row".*?(100000\d{8})/gs)].map(([, cnpj]) => cnpj),
    };
  };
  const { text, cnpjs } = await listed();
  expect(cnpjs).toEqual(Array.from({ length: 200 }, (_, n) => `${10_000_000_000_900 + n}`));
  expect(text).toContain('1500 companies; 200 of them here');
  expect((await harness.visit('/console')).text).toMatch(
    /<span class="count">10[23]\d<\/span> certificates near their end</,
  );
  expect((await listed('?cnpj=10.000.000%2F0014-99')).cnpjs).toEqual(['10000000001499']);
  expect((await listed('?cnpj=99')).text).toContain('No company has this CNPJ.');
});

it('an indeterminate invoice is listed with the note that its number has', async () => {
  expect((await portuguese('/console/indeterminate')).text).not.toContain('nota sob o seu número');
  for (const [isEqual, words] of [
    [false, 'de outro conteúdo: compare-a primeiro no portal nacional'],
    [true, 'de conteúdo igual: é a sua, se o cliente fez uma só venda'],
  ] as const) {
    const one = await consoleHarness();
    await appendTo(one.store, one.stream, [conflictFound(1, 60, isEqual)], at(60));
    const { text } = await one.visit('/console/indeterminate', { headers: { 'accept-language': 'pt-BR' } });
    expect(text).toContain(`nota sob o seu número</strong> ${words}`);
  }
});

describe('an invoice', () => {
  it('that was deleted: the page says so in a sentence', async () => {
    const one = await consoleHarness({}, {}, 'pedido-9');
    const gone: InvoiceEvent = { type: 'TestInvoiceDeleted', data: { lastHash: 'a', deletedAt: at(700_000) } };
    await appendTo(one.store, one.stream, [gone], at(700_000));
    const { text } = await one.visit(one.invoice, { headers: { 'accept-language': 'pt-BR' } });
    expect(text).toContain('apagada: a vida desta nota de teste acabou');
  });

  it('has its times in Brasília to the millisecond with their age, and readable names of events beside their types', async () => {
    harness.clock.pass(180);
    const { text } = await portuguese(harness.invoice);
    expect(text).toContain('>21/11/2026 09:00:00.000</time> <span class="age">há 3 min</span>');
    expect(text).toContain('Encerrada sem resultado <span class="mono" lang="en">IssuanceInterrupted</span>');
    expect(text).toContain('O cliente leu');
    for (const type of invoiceEventTypes)
      for (const language of ['pt', 'en'] as const)
        expect([type, eventName(type, sayIn(language))]).not.toEqual([type, '']);
  });

  it('offers an end only once it is possible, and says from when', async () => {
    const failed = /id="as-failed"[^>]*/;
    const early = (await harness.visit(harness.invoice)).text;
    expect(failed.exec(early)?.[0]).toContain('disabled');
    expect(early).toMatch(/Not possible yet: from <time datetime="2026-11-22T12:00/);
    harness.clock.pass(90_000);
    const { text } = await harness.visit(harness.invoice);
    expect(failed.exec(text)?.[0]).not.toContain('disabled');
    expect(text).toContain('name="other_sales"');
    expect(text).toContain('Only that a note is of another sale may be declared');
  });

  it('that met a note with other content can only have failed, and asks for the key of that note', async () => {
    expect((await harness.visit(harness.invoice)).text).not.toContain('name="other_sales"');
    await appendTo(harness.store, harness.stream, [conflictFound(1, 60)], at(60));
    harness.clock.pass(90_000);
    const { text } = await harness.visit(harness.invoice);
    expect(/id="as-issued"[^>]*/.exec(text)?.[0]).toContain('disabled');
    expect(/id="as-failed"[^>]*/.exec(text)?.[0]).not.toContain('disabled');
    expect(text).toMatch(/Not possible: <span lang="en">.*so only “failed” can settle the invoice/);
    expect(text).toContain('name="other_sales"');
  });

  it('shows the body as the API does without what is sealed, and whole once the look is on record', async () => {
    const closed = (await harness.visit(harness.invoice)).text;
    expect(closed).toContain('&quot;customer&quot;: &quot;…&quot;');
    expect(closed).toContain('&quot;code&quot;: &quot;nfse.issue_interrupted&quot;');
    const { text } = await harness.send(
      `${harness.invoice}/reveal`,
      { operator: 'maria' },
      { headers: { 'accept-language': 'pt-BR' } },
    );
    expect(text).toContain('&quot;document&quot;: &quot;11111111000191&quot;');
    for (const label of ['Tomador', 'CPF ou CNPJ', 'Descrição']) expect(text).toContain(`<dt>${label}</dt>`);
    expect((await harness.onRecord()).map(({ type }) => type)).toEqual(['PersonalDataRevealed']);
  });

  const settled = {
    as: 'issued',
    accessKey: '33045572212345678000195000000000014826082012345670',
    nfseNumber: '7',
    authorizedAt: at(10),
    nfseXmlGzip: 'H4sI',
    nfseSha256: 'a'.repeat(64),
    evidence: 'portal',
    at: at(90_000),
  } as const;

  it('shows the refusal of a cancellation at its last attempt', async () => {
    const life: readonly InvoiceEvent[] = [
      { type: 'IndeterminateResolved', data: settled },
      cancelRequested(90_001),
      cancelAttempted(1, 90_002),
      cancelNotConfirmed(90_003, ['E0822']),
    ];
    await appendTo(harness.store, harness.stream, life, at(90_003));
    const { text } = await portuguese(harness.invoice);
    expect(text.replaceAll(/<[^>]*>/g, ' ')).toMatch(/cancelamento 1\s+recusada\s+E0822/);
  });

  it('shows a refusal that look-ups made final at the instant of that end', async () => {
    const life: readonly InvoiceEvent[] = [
      { type: 'IndeterminateResolved', data: settled },
      cancelRequested(90_001),
      cancelAttempted(1, 90_002),
      cancelUnknown(1, 90_060, [UNCATALOGUED_CODE]),
    ];
    await appendTo(harness.store, harness.stream, life, at(90_060));
    await appendTo(harness.store, harness.stream, [cancelNotConfirmed(90_660, [UNCATALOGUED_CODE])], at(90_660));
    const { text } = await portuguese(harness.invoice);
    const row = /cancelamento 1<.*?<\/tr>/s.exec(text)?.[0] ?? '';
    expect(row.match(/datetime="[^"]*"/g)).toEqual([`datetime="${at(90_002)}"`, `datetime="${at(90_660)}"`]);
  });

  it('gives each look-up the reason of its own request, and says whether it may still decide something', async () => {
    const first = [cancelRequested(90_001), cancelAttempted(1, 90_002), cancelUnknown(1, 90_003, ['E0901'])];
    const life: readonly InvoiceEvent[] = [
      { type: 'IndeterminateResolved', data: settled },
      ...first,
      cancelNotConfirmed(90_004, []),
      cancelRequested(90_005, 2),
      cancelAttempted(1, 90_006, 2),
    ];
    await appendTo(harness.store, harness.stream, life, at(90_006));
    harness.lookups.set('cancel/2/1', { asked: 1, lastAskedAt: at(90_100) });
    const pending = (await portuguese(harness.invoice)).text;
    const row = /cancel\/2\/1.*?<\/tr>/s.exec(pending)?.[0] ?? '';
    expect(row).toContain('o processo terminou sem resposta');
    expect(row).not.toContain('E0901');
    expect(pending).toContain('Consultas que ainda não decidiram nada');
    await appendTo(harness.store, harness.stream, [cancelConfirmed(90_200)], at(90_200));
    const ended = (await portuguese(harness.invoice)).text;
    expect(ended).toContain('Consultas que foram feitas');
    expect(ended).not.toContain('ainda não decidiram');
  });

  it('shows the confirmation of a cancellation at its last attempt, unless another party canceled the note', async () => {
    const life: readonly InvoiceEvent[] = [
      { type: 'IndeterminateResolved', data: settled },
      cancelRequested(90_001),
      cancelAttempted(1, 90_002),
      cancelConfirmed(90_003),
    ];
    await appendTo(harness.store, harness.stream, life, at(90_003));
    const { text } = await portuguese(harness.invoice);
    expect(text.replaceAll(/<[^>]*>/g, ' ')).toMatch(/cancelamento 1\s+confirmada\s+–/);
    const elsewhere = await consoleHarness();
    const canceled: InvoiceEvent = {
      type: 'NoteCanceledElsewhere',
      data: {
        accessKey: settled.accessKey,
        eventType: '101101',
        canceledAt: at(90_003),
        at: at(90_004),
        eventXmlGzip: 'H4sI',
        eventSha256: 'b'.repeat(64),
      },
    };
    await appendTo(elsewhere.store, elsewhere.stream, [...life.slice(0, 3), canceled], at(90_004));
    const other = (await elsewhere.visit(elsewhere.invoice, { headers: { 'accept-language': 'pt-BR' } })).text;
    expect(other.replaceAll(/<[^>]*>/g, ' ')).toMatch(/cancelamento 1\s+aberta\s+–/);
  });

  it('shows a confirmation when it was recorded here, and its evidence by the clock of the page', async () => {
    const life: readonly InvoiceEvent[] = [
      { type: 'IndeterminateResolved', data: settled },
      cancelRequested(90_001),
      cancelAttempted(1, 90_002),
    ];
    await appendTo(harness.store, harness.stream, life, at(90_002));
    const confirmed = { type: 'CancellationConfirmed', data: { ...confirmationData(90_004), canceledAt: at(90_000) } };
    await appendTo(harness.store, harness.stream, [confirmed as InvoiceEvent], at(90_004));
    const { text } = await portuguese(harness.invoice);
    const row = /cancelamento 1<.*?<\/tr>/s.exec(text)?.[0] ?? '';
    expect(row.match(/datetime="[^"]*"/g)).toEqual([`datetime="${at(90_002)}"`, `datetime="${at(90_004)}"`]);
    expect(text).toContain('canceled 22/11/2026 10:00:00.000, by ');
  });

  it('leads to the national consultation by the signature of the note, whatever serves its mode today', async () => {
    for (const [signer, simulatedModes] of [['simulator', []] as const, ['other', ['live']] as const]) {
      const one = await consoleHarness({}, { simulatedModes });
      const nfseXmlGzip = gzipSync(noteSignedBy(signer)).toString('base64');
      const events: InvoiceEvent[] = [{ type: 'IndeterminateResolved', data: { ...settled, nfseXmlGzip } }];
      await appendTo(one.store, one.stream, events, at(90_000));
      const { text } = await one.visit(one.invoice);
      const isSimulated = signer === 'simulator';
      expect([signer, text.includes('note of the simulator')]).toEqual([signer, isSimulated]);
      expect([signer, text.includes('National consultation')]).toEqual([signer, !isSimulated]);
    }
  });

  it('leads to PDF, XML and the national consultation once it is issued', async () => {
    await appendTo(harness.store, harness.stream, [{ type: 'IndeterminateResolved', data: settled }], at(90_000));
    const closed = (await harness.visit(harness.invoice)).text;
    expect(closed).toContain(`href="https://www.nfse.gov.br/ConsultaPublica/?tpc=1&amp;chave=${settled.accessKey}"`);
    expect(closed).not.toContain('?t=token');
    const { text } = await harness.send(`${harness.invoice}/reveal`, { operator: 'maria' });
    for (const kind of ['pdf', 'xml'])
      expect(text).toContain(`href="http://api.test/v1/nfse/${harness.invoice.split('/').at(-1)}/${kind}?t=token"`);
  });
});
