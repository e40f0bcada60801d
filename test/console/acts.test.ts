import { beforeEach, describe, expect, it } from 'vitest';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { ACCESS_KEY, at, authorized, cancelNotConfirmed, cancelRequested } from '../support/fixture/invoice.js';
import { type ConsoleHarness, consoleHarness } from '../support/harness/console.js';
import { appendTo } from '../support/harness/event-store.js';

/** Of the customer of the fixture. */
const PERSONAL = ['CLIENTE LTDA', '11111111000191', 'Desenvolvimento de sistema'];

let harness: ConsoleHarness;
beforeEach(async () => {
  harness = await consoleHarness();
});

describe('personal data', () => {
  it('stands on no page that is only looked at', async () => {
    for (const path of ['/console', harness.invoice, '/console/indeterminate', '/console/parked']) {
      const { status, text } = await harness.visit(path);
      expect([path, status, PERSONAL.filter((one) => text.includes(one))]).toEqual([path, 200, []]);
    }
    expect(await harness.onRecord()).toEqual([]);
  });

  it('is shown once the look is on record, with the name of whoever looks', async () => {
    const { status, text } = await harness.send(`${harness.invoice}/reveal`, { operator: 'maria' });
    expect([status, PERSONAL.filter((one) => !text.includes(one))]).toEqual([200, []]);
    expect(await harness.onRecord()).toEqual([
      {
        type: 'PersonalDataRevealed',
        actor: 'support:maria',
        data: expect.objectContaining({ command: 'console', subject: harness.stream }),
      },
    ]);
  });

  it.each(['', '  ', '<script>', 'a'.repeat(61)])('is not shown to a nameless operator ("%s")', async (operator) => {
    const { status, text } = await harness.send(`${harness.invoice}/reveal`, { operator });
    expect(text).toMatch(/id="personal">.*?<\/h2><p class="notice bad" role="alert">/);
    expect([status, PERSONAL.filter((one) => text.includes(one))]).toEqual([400, []]);
    expect(await harness.onRecord()).toEqual([]);
  });
});

describe('a search', () => {
  const search = (fields: Record<string, string>) => harness.send('/console/search', { operator: 'maria', ...fields });

  it('by customer document finds it however it is written, and is on record without the document', async () => {
    for (const text of ['11111111000191', '11.111.111/0001-91']) {
      const answer = await search({ text });
      expect([text, answer.status]).toEqual([text, 200]);
      expect(answer.text).toContain(harness.invoice);
      expect(answer.text).not.toContain('CLIENTE');
    }
    const recorded = await harness.onRecord();
    expect(recorded.map(({ type, actor }) => [type, actor])).toEqual([
      ['PersonalDataRevealed', 'support:maria'],
      ['PersonalDataRevealed', 'support:maria'],
    ]);
    expect(JSON.stringify(recorded)).not.toContain('11111111');
    expect(JSON.stringify(recorded)).toMatch(/invoices of document hmac-sha256:m1:[0-9a-f]{64}, all companies/);
  });

  it('says what was searched, and keeps it in the form', async () => {
    const typed = { text: '"><b>pedido</b>', by: 'reference', company: '12.345.678/0001-95' };
    const { status, text } = await search(typed);
    const escaped = '&quot;&gt;&lt;b&gt;pedido&lt;/b&gt;';
    expect([status, text.includes('<b>pedido')]).toEqual([200, false]);
    expect(text).toContain(`By reference “${escaped}”: 0 invoices`);
    expect(text).toContain(`name="text" value="${escaped}"`);
    expect(text).toContain('<option value="reference" selected>');
    expect(text).toContain('name="company" value="12.345.678/0001-95"');
    expect((await search({ text: 'pedido-2' })).text).toContain('<option value="" selected>');
  });

  it.each([
    ['dps-id', 'By DPS id “x”', 'Por id da DPS “x”'],
    ['document', 'By customer document (CPF, CNPJ, tax id) “x”', 'Por documento do tomador (CPF, CNPJ, NIF) “x”'],
    ['access-key', 'By access key “x”', 'Por chave de acesso “x”'],
  ])('by %s is named in a sentence with the capitals of its acronyms', async (by, english, portuguese) => {
    expect((await search({ text: 'x', by })).text).toContain(english);
    const fields = { operator: 'maria', text: 'x', by };
    const { text } = await harness.send('/console/search', fields, { headers: { 'accept-language': 'pt' } });
    expect(text).toContain(portuguese);
  });

  it('that is refused comes back in its form, with the reason', async () => {
    for (const fields of [{ company: '98765432000198' }, { operator: '<b>' }]) {
      const { status, text } = await search(Object.assign({ text: '52998224725', by: 'document' }, fields));
      expect([status, text]).toEqual([400, expect.stringContaining('role="alert"')]);
      expect(text).toContain('action="/console/search"');
      expect(text).toContain('name="text" value="52998224725"');
      expect(text).toContain('<option value="document" selected>');
    }
    expect(await harness.onRecord()).toEqual([]);
  });

  it('by another document finds nothing', async () => {
    expect((await search({ text: '52998224725' })).text).toContain('Nothing found');
  });

  it('by document wants a name', async () => {
    expect((await search({ text: '52998224725', operator: '' })).status).toBe(400);
    expect(await harness.onRecord()).toEqual([]);
  });

  it('by document takes the CNPJ of a company, and no other text, which the record would keep', async () => {
    for (const company of ['52998224725 MARIA', '98765432000198']) {
      const { status, text } = await search({ text: '52998224725', company });
      expect([company, status, text.includes('There is no such company')]).toEqual([company, 400, true]);
    }
    expect(await harness.onRecord()).toEqual([]);
    expect((await search({ text: '11111111000191', company: '12.345.678/0001-95' })).status).toBe(200);
    expect(JSON.stringify(await harness.onRecord())).toContain('12345678000195');
  });

  it('by reference finds it, and is nothing to record', async () => {
    expect((await search({ text: ' pedido-1 ' })).headers.get('location')).toBe(harness.invoice);
    expect((await search({ text: 'pedido-2' })).text).toContain('Nothing found');
    expect(await harness.onRecord()).toEqual([]);
  });

  it('without a kind finds a reference that looks like an id or a document, and records nothing', async () => {
    const find = async (reference: string) => {
      const other = await consoleHarness({}, {}, reference);
      const { headers, text } = await other.send('/console/search', { operator: '', text: reference });
      expect(await other.onRecord()).toEqual([]);
      return { other, text, location: headers.get('location') };
    };
    const likeId = await find('0b9a7a5e-3a44-4d5e-9f60-1c2d3e4f5a6b');
    expect(likeId.location).toBe(likeId.other.invoice);
    const likeDocument = await find('00000004711');
    expect(likeDocument.text).toContain('By reference “00000004711”: 1 invoice.');
    expect(likeDocument.text).toContain(`<a href="${likeDocument.other.invoice}">`);
    const nothing = await search({ text: '52998224725' });
    expect(nothing.text).toContain('By reference and by customer document (CPF, CNPJ, tax id) “52998224725”');
  });

  it('by id leads to the invoice, which the log knows before its row does', async () => {
    const id = harness.invoice.replace('/console/invoices/', '');
    expect((await search({ text: id })).headers.get('location')).toBe(harness.invoice);
    expect((await search({ text: id.replace('nfse_', '').toUpperCase() })).headers.get('location')).toBe(
      harness.invoice,
    );
    expect((await harness.visit('/console/invoices/nfse_00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect((await harness.visit('/console/invoices/%3Cb%3E')).status).toBe(404);
  });
});

describe('a settlement', () => {
  const settle = (fields: Record<string, string>) =>
    harness.send(`${harness.invoice}/settle`, {
      operator: 'maria',
      as: 'failed',
      evidence: 'Portal consultado',
      ...fields,
    });

  it('is asked for in the name of the operator, with the evidence', async () => {
    const { status, headers } = await settle({ evidence: '  Portal consultado ' });
    expect([status, headers.get('location')]).toEqual([303, `${harness.invoice}?settled=1`]);
    expect(harness.settled).toEqual([
      { operator: 'maria', command: { stream: harness.stream, as: 'failed', evidence: 'Portal consultado' } },
    ]);
  });

  it('as failed names the notes that are of other sales', async () => {
    const fields = { otherSales: [ACCESS_KEY, ACCESS_KEY], as: 'failed', evidence: 'Portal consultado' };
    expect((await settle({ other_sales: ` ${ACCESS_KEY}, ${ACCESS_KEY} ` })).status).toBe(303);
    expect(harness.settled).toEqual([{ operator: 'maria', command: { stream: harness.stream, ...fields } }]);
    expect((await settle({ other_sales: '1'.repeat(50) })).status).toBe(400);
  });

  it('takes an access key in groups, and with the NFS of the XML', async () => {
    const groups = ACCESS_KEY.replaceAll(/(.{4})/g, '$1 ');
    for (const access_key of [groups, `NFS${ACCESS_KEY}`, groups.replaceAll(' ', '.')])
      expect((await settle({ as: 'issued', access_key })).status).toBe(303);
    expect((await settle({ other_sales: `${groups}, ${groups}` })).status).toBe(303);
    const asked = harness.settled.map(({ command }) => command.accessKey ?? command.otherSales);
    expect(asked).toEqual([ACCESS_KEY, ACCESS_KEY, ACCESS_KEY, [ACCESS_KEY, ACCESS_KEY]]);
    expect((await settle({ as: 'issued', access_key: `${groups} ${groups}` })).status).toBe(400);
    harness.clock.pass(90_000);
    const { text } = await harness.visit(harness.invoice);
    for (const [field, most] of [
      ['access_key', groups.length],
      ['other_sales', 5 * (groups.length + 2)],
    ] as const) {
      const [, length = '0'] = new RegExp(`name="${field}" maxlength="(\\d+)"`).exec(text) ?? [];
      expect([field, Number(length) >= most]).toEqual([field, true]);
    }
  });

  it('is called recorded only where support has settled last, whatever a link says', async () => {
    const isCalledRecorded = async (): Promise<boolean> =>
      (await harness.visit(`${harness.invoice}?settled=1`)).text.includes('Settled, and on record');
    expect(await isCalledRecorded()).toBe(false);
    const resolved = { as: 'failed', evidence: 'portal', at: at(90_000) } as const;
    const append = (actor: 'support:maria' | 'worker:issuer') =>
      appendTo(harness.store, harness.stream, [{ type: 'IndeterminateResolved', data: resolved }], at(90_000), {
        actor,
      });
    await append('support:maria');
    expect(await isCalledRecorded()).toBe(true);
    await append('worker:issuer');
    expect(await isCalledRecorded()).toBe(false);
  });

  it.each([
    ['no evidence', { evidence: '  ' }],
    ['no end', { as: '' }],
    ['an end that is not for it', { as: 'canceled' }],
    ['an access key that is none', { as: 'issued', access_key: '1'.repeat(50) }],
    ['no name', { operator: '' }],
  ])('with %s is refused before anybody is asked', async (_what, fields) => {
    expect((await settle(fields)).status).toBe(400);
    expect(harness.settled).toEqual([]);
  });

  const note = { accessKey: ACCESS_KEY, nfseNumber: '1', authorizedAt: at(5), nfseXmlGzip: 'H4sI' } as const;
  const resolvedAs = {
    issued: (evidence: string): InvoiceEvent => ({
      type: 'IndeterminateResolved',
      data: { as: 'issued', ...note, nfseSha256: 'a', evidence, at: at(90_000) },
    }),
    failed: (evidence: string): InvoiceEvent => ({
      type: 'IndeterminateResolved',
      data: { as: 'failed', evidence, at: at(90_000) },
    }),
  };
  const closed = (evidence: string): InvoiceEvent => ({
    type: 'CancellationClosedBySupport',
    data: { evidence, at: at(90_000) },
  });
  const canceled = (evidence: string): InvoiceEvent => ({
    type: 'CancellationSettledBySupport',
    data: { evidence, at: at(90_000), eventXmlGzip: 'H4sI', eventSha256: 'b', canceledAt: at(90_000) },
  });
  const life = (actor: 'support:maria' | 'support:bia', ...events: readonly InvoiceEvent[]) =>
    appendTo(harness.store, harness.stream, events, at(90_000), { actor });
  const plain = (text: string): string => text.replaceAll(/<[^>]*>/g, '');

  it('of what a colleague has settled otherwise says who, when and how, and asks nobody', async () => {
    await life('support:bia', resolvedAs.failed('portal'));
    const { status, text } = await settle({ as: 'issued', evidence: 'Vista por mim' });
    expect([status, harness.settled]).toEqual([400, []]);
    expect(plain(text)).toContain(
      'It was settled already by bia at 2026-11-22 10:00:00.000: Outcome settled by support (settled as failed). What you typed was not recorded.',
    );
    expect(text).toContain('Vista por mim</textarea>');
  });

  it('of an end that the protocol has given says so', async () => {
    await appendTo(harness.store, harness.stream, [authorized(1, 90)], at(90), { actor: 'worker:issuer' });
    const { status, text } = await settle({ as: 'failed' });
    expect([status, harness.settled]).toEqual([400, []]);
    expect(plain(text)).toContain(
      'It was settled already by worker:issuer at 2026-11-21 09:01:30.000: Note authorized',
    );
  });

  it('that is sent a second time by the same person with the same evidence is answered as the first time', async () => {
    harness.answers.settle = { kind: 'already_so' };
    const again = async (as: string) => [as, (await settle({ as })).headers.get('location')];
    const [green, mine] = [`${harness.invoice}?settled=1`, 'Portal consultado'];
    await life('support:maria', resolvedAs.issued(mine));
    expect(await again('issued')).toEqual(['issued', green]);
    await life('support:maria', cancelRequested(90_001), cancelNotConfirmed(93_700), closed(mine));
    expect(await again('valid')).toEqual(['valid', green]);
    // An older tab with the same words is about another end.
    expect((await settle({ as: 'issued' })).status).toBe(409);
    expect((await harness.visit(green)).text).toContain(
      'Settled, and on record. The note stays valid, and nothing changes for the client.',
    );
    await life('support:maria', canceled(mine));
    expect(await again('canceled')).toEqual(['canceled', green]);
    expect((await settle({ as: 'failed' })).status).toBe(400);
  });

  it('as failed that names a note of another sale, which the first form did not, is not called recorded', async () => {
    harness.answers.settle = { kind: 'already_so' };
    await life('support:maria', resolvedAs.failed('Portal consultado'));
    expect((await settle({ as: 'failed' })).status).toBe(303);
    expect((await settle({ as: 'failed', other_sales: ACCESS_KEY })).status).toBe(409);
  });

  it.each<[as: string, how: string, events: readonly InvoiceEvent[]]>([
    ['issued', 'settled as issued, access key', [resolvedAs.issued('portal')]],
    ['failed', 'settled as failed', [resolvedAs.failed('portal')]],
    [
      'valid',
      'the note stays valid',
      [resolvedAs.issued('portal'), cancelRequested(90_001), cancelNotConfirmed(93_700), closed('portal')],
    ],
    [
      'canceled',
      'canceled ',
      [resolvedAs.issued('portal'), cancelRequested(90_001), cancelNotConfirmed(93_700), canceled('portal')],
    ],
  ])('as %s that changed nothing says who settled, and is never called recorded', async (as, how, events) => {
    harness.answers.settle = { kind: 'already_so' };
    await life('support:bia', ...events);
    for (const [operator, evidence] of [
      ['caio', 'portal'],
      ['bia', 'Outra evidência'],
      ['maria', 'Velha <aba>'],
    ] as const) {
      const { status, text } = await settle({ as, operator, evidence });
      expect([as, operator, status]).toEqual([as, operator, 409]);
      expect(plain(text)).toContain(`It was settled already by bia at 2026-11-22 10:00:00.000: `);
      expect(plain(text)).toContain(how);
      expect(plain(text)).toContain('What you typed was not recorded.');
      expect(text).not.toContain('Settled, and on record');
      expect(text).toContain(`${evidence.replace('<aba>', '&lt;aba&gt;')}</textarea>`);
    }
    const { text } = await harness.send(
      `${harness.invoice}/settle`,
      { operator: 'caio', as, evidence: 'tarde' },
      { headers: { 'accept-language': 'pt-BR' } },
    );
    expect(plain(text)).toContain('Já estava resolvida por bia em 22/11/2026 10:00:00.000: ');
    expect(plain(text)).toContain('O que você digitou não foi registrado.');
    expect(text).not.toContain('Resolvida e registrada');
  });

  it('that is refused because a colleague settled while the authorizer was asked says who', async () => {
    harness.meanwhile = () => life('support:bia', resolvedAs.issued('portal'));
    harness.answers.settle = { kind: 'refused', reason: 'it is issued: only an indeterminate invoice is settled' };
    harness.clock.pass(90_000);
    const { status, text } = await settle({ as: 'failed', evidence: 'Vista por mim' });
    expect([status, harness.settled.length]).toEqual([409, 1]);
    expect(plain(text)).toContain('It was settled already by bia at 2026-11-22 10:00:00.000');
    expect(text).toContain('Vista por mim</textarea>');
  });

  it.each([
    [
      { kind: 'refused', reason: 'the authorizer has no such document' },
      'Not settled: <span lang="en">the authorizer has no such',
    ],
    [
      { kind: 'ask_again', at: '2026-11-21T12:05:00.000Z', detail: 'asked once' },
      'again after 2026-11-21 09:05:00.000',
    ],
  ] as const)('that ends in %j says why, and keeps what was typed', async (answer, shown) => {
    harness.answers.settle = answer;
    const { status, text } = await settle({ as: 'issued', evidence: 'Consulta "ao" <portal>' });
    expect(status).toBe(409);
    expect(text).toContain(shown);
    expect(text).toContain('Consulta &quot;ao&quot; &lt;portal&gt;</textarea>');
    expect(text).toMatch(/id="as-issued"[^>]* checked/);
  });
});

describe('the reason of a refusal', () => {
  const reasonOnPage = async (reason: string): Promise<string | undefined> => {
    harness.answers.settle = { kind: 'refused', reason };
    const fields = { operator: 'maria', as: 'issued', evidence: 'Portal' };
    const { text } = await harness.send(`${harness.invoice}/settle`, fields, { headers: { 'accept-language': 'pt' } });
    return /role="alert">Não resolvida: <span lang="en">(.*?)<\/span>\./.exec(text)?.[1];
  };

  it.each([
    ['settle the invoice with --as failed', 'settle the invoice with “failed”'],
    ['--as issued gives it to the invoice', '“issued” gives it to the invoice'],
    [
      'an absence proves nothing before 2026-11-30T20:24:55.475Z, 24 h after the last attempt',
      'an absence proves nothing before 30/11/2026 17:24:55.475, 24 h after the last attempt',
    ],
    [
      `Only where it is of another sale: --as failed --other-sale ${ACCESS_KEY}`,
      `Only where it is of another sale: “failed” with the access key ${ACCESS_KEY}`,
    ],
    [
      `Only where all are of other sales: --as failed --other-sale ${ACCESS_KEY} --other-sale ${ACCESS_KEY}`,
      `Only where all are of other sales: “failed” with the access keys ${ACCESS_KEY} ${ACCESS_KEY}`,
    ],
  ])(
    '%s names ends and keys without the flags of the command line, by the clock of the page',
    async (reason, shown) => {
      expect(await reasonOnPage(reason)).toBe(shown);
    },
  );
});

describe('the machinery', () => {
  it('has parked work tried again, on record', async () => {
    const { status } = await harness.send('/console/parked/retry', { stream: harness.stream, operator: 'maria' });
    expect([status, harness.parked]).toEqual([303, []]);
    expect(await harness.onRecord()).toMatchObject([
      { type: 'ParkedWorkRetried', actor: 'support:maria', data: { subject: harness.stream } },
    ]);
  });

  it('says that work will be tried again only after a retry, whatever a link says, and for a minute', async () => {
    const isSaid = async () =>
      (await harness.visit('/console/parked?retried=1')).text.includes('It will be tried again');
    expect(await isSaid()).toBe(false);
    await harness.send('/console/parked/retry', { stream: harness.stream, operator: 'maria' });
    expect(await isSaid()).toBe(true);
    harness.clock.pass(60);
    expect(await isSaid()).toBe(false);
  });

  it.each(['/console/parked', '/console/projections'])('does nothing at Enter in a field of %s', async (path) => {
    const form = /<form method="post" action="\/console\/(?:parked|projections)\/.*?<\/form>/s;
    const { text } = await harness.visit(path);
    const [first, ...others] = form.exec(text)?.[0].match(/<button[^>]*>/g) ?? [];
    expect([first, others.length > 0]).toEqual(['<button disabled hidden>', true]);
  });

  it('records no retry of what is not parked', async () => {
    const { status } = await harness.send('/console/parked/retry', { stream: 'nfseLive-x', operator: 'maria' });
    expect([status, harness.parked.length, await harness.onRecord()]).toEqual([409, 1, []]);
  });

  it('has a projection made again, on record', async () => {
    const { status } = await harness.send('/console/projections/rebuild', {
      projection: 'invoices',
      operator: 'maria',
    });
    expect([status, harness.begun]).toEqual([303, ['invoices']]);
    expect(await harness.onRecord()).toMatchObject([
      { type: 'ProjectionRebuildOrdered', actor: 'support:maria', data: { projection: 'invoices' } },
    ]);
  });

  it('begins no second rebuild, none of a projection that is not there, and none without a name', async () => {
    const rebuild = (fields: Record<string, string>) =>
      harness.send('/console/projections/rebuild', { projection: 'invoices', operator: 'maria', ...fields });
    expect((await rebuild({ projection: 'x' })).status).toBe(404);
    expect((await rebuild({ operator: '' })).status).toBe(400);
    harness.answers.run = { state: 'running', detail: ['7 eventos aplicados', '7 events folded'] };
    const { status, text } = await rebuild({});
    // A reload of this answer would send the form again.
    expect([status, text.includes('data-reload')]).toEqual([409, false]);
    expect((await harness.visit('/console/projections')).text).toContain('data-reload="3"');
    expect([harness.begun, await harness.onRecord()]).toEqual([[], []]);
  });

  it('records no order of a rebuild that is refused, and shows why', async () => {
    harness.answers.run = { state: 'refused', detail: ['o log é mais antigo', 'the log is older'] };
    const { status, text } = await harness.send('/console/projections/rebuild', {
      projection: 'invoices',
      operator: 'maria',
    });
    expect([status, text.includes('the log is older')]).toEqual([409, true]);
    expect([harness.begun, await harness.onRecord()]).toEqual([[], []]);
  });
});

it('says that a rebuild has begun only while one runs, and how far it is in the language of the page', async () => {
  const seen = async (language: string) => {
    const { text } = await harness.visit('/console/projections?begun=1', { headers: { 'accept-language': language } });
    return [/role="status">([^<]*)/.exec(text)?.[1], text.replaceAll(/<[^>]*>/g, ' ')];
  };
  harness.answers.run = { state: 'running', detail: ['7 eventos aplicados', '7 events folded'] };
  expect(await seen('pt')).toEqual([
    'A reconstrução começou.',
    expect.stringMatching(/em curso\s+7 eventos aplicados/),
  ]);
  expect(await seen('en')).toEqual(['The rebuild has begun.', expect.stringMatching(/running\s+7 events folded/)]);
  harness.answers.run = { state: 'done', detail: ['geração 2, 7 eventos', 'generation 2, 7 events'] };
  expect(await seen('pt')).toEqual([undefined, expect.stringMatching(/pronta\s+geração 2, 7 eventos/)]);
});

it('leaves the notice of an act that succeeded out of the links to the same page', async () => {
  const acts = ['/console/projections?begun=1', '/console/parked?retried=1', `${harness.invoice}?settled=1`];
  for (const address of acts) {
    const { text } = await harness.visit(address);
    const [path] = address.split('?');
    expect(text).toContain(`<a href="${path}">Refresh</a>`);
    expect(text).toContain(`<a href="${path}?lang=pt"`);
  }
});

it('shows every word of others as text', async () => {
  const words = '"><script>alert(1)</script>';
  harness.parked = harness.parked.map((item) => ({ ...item, reason: words }));
  const { text } = await harness.visit('/console/parked');
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(text).not.toContain('<script');
});
