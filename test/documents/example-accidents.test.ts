import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { ScriptedAnswer, ScriptedApi } from '../support/harness/scripted-api.js';
import {
  ACCESS_KEY,
  accepted,
  answered,
  HEADER,
  ID,
  invoice,
  issued,
  listed,
  refused,
  scriptedExamples,
} from '../support/harness/scripted-examples.js';
import { itWith, type NeedName } from '../support/needs.js';
import { readPage } from '../tools/documents/pages.js';

const STATUS_OF_ISSUED = '"status":"issued"';

/** A proxy may write the time to wait for as a date. */
const AT_A_DATE = { 'content-type': 'text/html', 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT' };

const upstream = answered(502, { error: 'upstream' });
const dated: ScriptedAnswer = { status: 503, body: '<html>', headers: AT_A_DATE };

const disabled = refused(403, 'feature_not_enabled');
const certificateMissing = refused(422, 'company.certificate_missing');
const nameMissing = refused(422, 'nfse.customer_name_required');
const unknown = refused(404, 'not_found');
const unavailable = answered(503, {
  error: { type: 'api_error', code: 'service_unavailable', message: 'Depois.', retryable: true, request_id: 'req_1' },
});

const cut = (answer: ScriptedAnswer, cutAfter: number): ScriptedAnswer => ({ ...answer, cutAfter });
const redirectTo = ({ url }: ScriptedApi): ScriptedAnswer => ({
  status: 302,
  body: '',
  headers: { location: `${url}/v1/nfse` },
});
const cutAfterStatus = cut(issued, issued.body.indexOf(STATUS_OF_ISSUED) + STATUS_OF_ISSUED.length);

const issuers: readonly [NeedName, string][] = [
  ['node', 'emitir-e-esperar.ts'],
  ['curl', 'conexao-cortada.sh'],
  ['python', 'emitir.py'],
  ['php', 'emitir.php'],
];

/** Without Retry-After in seconds they wait so long. */
const WAIT_S = 3;
/** A timer may end within the millisecond before its time. */
const CLOCK_STEP_MS = 2;

describe('the examples behind a proxy with accidents', () => {
  const examples = scriptedExamples();
  const { facing, written } = examples;

  /** Milliseconds from each request to the next of the same kind. */
  const pausesOf = ({ asked }: ScriptedApi): number[] =>
    asked.flatMap(({ method, at }, index) => {
      const next = asked[index + 1];
      return next?.method === method ? [next.at - at] : [];
    });
  const LEAST_MS = WAIT_S * 1_000 - CLOCK_STEP_MS;

  for (const [need, file] of issuers) {
    const downloads = file === 'emitir-e-esperar.ts' ? ['GET', 'GET'] : [];
    itWith(need, `${file} asks again when an answer breaks off, wherever it does`, async () => {
      const { run, methods } = await facing([cut(accepted, 20), accepted, cut(issued, 20), cutAfterStatus, issued]);
      expect(await run(file, 'p-1', '1000')).toMatchObject({ code: 0, out: `emitida: ${ACCESS_KEY}\n` });
      expect(methods()).toEqual(['POST', 'POST', 'GET', 'GET', 'GET', ...downloads]);
    });

    itWith(need, `${file} goes on after answers that are not of the API`, async () => {
      const { run, methods } = await facing([
        upstream,
        answered(202, {}),
        accepted,
        upstream,
        answered(200, { ok: true }),
        issued,
      ]);
      expect(await run(file, 'p-2', '1000')).toMatchObject({ code: 0, out: `emitida: ${ACCESS_KEY}\n` });
      expect(methods()).toEqual(['POST', 'POST', 'POST', 'GET', 'GET', 'GET', ...downloads]);
    });

    itWith(need, `${file} follows no redirect, because the key and the order would go to another server`, async () => {
      const other = await facing([accepted, issued]);
      const away = redirectTo(other.api);
      const { run, methods } = await facing([away, accepted, away, issued]);
      expect(await run(file, 'p-4', '1000')).toMatchObject({ code: 0, out: `emitida: ${ACCESS_KEY}\n` });
      expect([methods(), other.api.asked]).toEqual([['POST', 'POST', 'GET', 'GET', ...downloads], []]);
    });

    itWith(need, `${file} says of a canceled invoice that it was issued and is canceled`, async () => {
      const { run } = await facing([answered(202, invoice('canceled')), answered(200, invoice('canceled'))]);
      const out = `a nota deste pedido foi emitida e está cancelada: ${ACCESS_KEY}\n`;
      expect(await run(file, 'p-3', '1000')).toEqual({ code: 0, out, complaint: '' });
    });
  }

  for (const [need, file] of issuers) {
    itWith(need, `${file} does not tell a refusal after a lost answer as one`, async () => {
      const { run } = await facing([cut(accepted, 20), disabled]);
      const complaint = expect.stringMatching(/(?:pode existir|may exist).*(?:Recusado\.)/);
      expect(await run(file, 'p-9', '1000')).toEqual({ code: 3, out: '', complaint });
      const unseen = await facing([cut(accepted, 20), certificateMissing, listed()]);
      expect(await unseen.run(file, 'p-9', '1000')).toEqual({ code: 3, out: '', complaint });
    });

    itWith(need, `${file} looks for the invoice of an earlier run before it tells a refusal`, async () => {
      const early = await facing([certificateMissing, listed(invoice('issued'))]);
      const found = expect.stringMatching(`já há uma nota deste pedido, ${ID} .issued.: Recusado`);
      expect(await early.run(file, 'p-10', '1000')).toEqual({ code: 2, out: '', complaint: found });
      expect(early.methods()).toEqual(['POST', 'GET']);
      const none = await facing([certificateMissing, listed()]);
      const complaint = expect.stringMatching(/^(?:o pedido foi )?recusado: Recusado\./);
      expect(await none.run(file, 'p-11', '1000')).toEqual({ code: 1, out: '', complaint });
      const blind = await facing([disabled]);
      const open = expect.stringMatching(/^recusado, mas a nota de um envio anterior pode existir/);
      expect(await blind.run(file, 'p-12', '1000')).toEqual({ code: 3, out: '', complaint: open });
    });

    itWith(need, `${file} ends when the reads of an accepted invoice are refused, and names the invoice`, async () => {
      const { run, methods } = await facing([accepted, unknown, issued]);
      const complaint = expect.stringContaining(ID);
      expect(await run(file, 'p-13', '1000')).toEqual({ code: 3, out: '', complaint });
      expect(methods()).toEqual(['POST', 'GET']);
    });
  }

  it('lote-noturno.ts takes a row as refused only when the API has no invoice of it', async () => {
    const csv = written('retomado.csv', [HEADER, '1;1;;;1000;A', '2;1;;;1000;B']);
    const { run } = await facing([nameMissing, listed(invoice('queued')), nameMissing, listed(), issued]);
    const { code, out } = await run('lote-noturno.ts', csv, join(examples.programs.folder, 'retomado.jsonl'));
    expect([code, out.split('\n')]).toEqual([
      0,
      ['lote-1-1: emitida', expect.stringMatching(/^lote-2-1: falhou, corrija a linha.*Recusado\.$/), ''],
    ]);
  });

  it('lote-noturno.ts goes past invoices that the API does not show, and keeps them open', async () => {
    const csv = written('apagado.csv', [HEADER, '1;1;;;1000;A', '2;1;;;1000;B', '3;1;;;1000;C']);
    const ledger = join(examples.programs.folder, 'apagado.jsonl');
    const inUse = refused(409, 'nfse.reference_in_use');
    const { run } = await facing([accepted, accepted, inUse, listed(), unknown, issued]);
    const { code, out } = await run('lote-noturno.ts', csv, ledger);
    const notShown = (row: string) => expect.stringMatching(`^lote-${row}-1: a API não mostra a nota: .*7 dias`);
    expect([code, out.split('\n')]).toEqual([0, [notShown('1'), 'lote-2-1: emitida', notShown('3'), '']]);
    expect(readFileSync(ledger, 'utf8').match(/"chave":"[^"]*","fim"/g)).toEqual(['"chave":"lote-2-1","fim"']);
  });

  it('baixar-mes.ts goes past an invoice that the API does not show', async () => {
    const ledger = written('mes.jsonl', ['{"chave":"a","id":"nfse_1"}', `{"chave":"b","id":"${ID}"}`]);
    const { run } = await facing([unknown, answered(200, { ...invoice('issued'), competence: '2026-11-05' })]);
    const { code, out } = await run('baixar-mes.ts', '2026-11', ledger, 'mes');
    expect([code, out.split('\n')]).toEqual([
      0,
      [expect.stringMatching(/^nfse_1: a API não mostra a nota: /), '2 arquivos novos em mes/2026-11', ''],
    ]);
  });

  it('loja-express.ts takes an order as refused only when the API has no invoice of it', async () => {
    const { start } = await facing([nameMissing, listed(invoice('queued')), issued]);
    const shop = start('loja-express.ts');
    const url = await shop.says(/(http:\S+)/);
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/pedidos/501/pago`, { method: 'POST', headers, body: '{"centavos":1000}' });
    const order = await eventually(
      async () => (await (await fetch(`${url}/pedidos/501`)).json()) as { situacao: string },
      ({ situacao }) => situacao !== 'aberto',
    );
    await shop.kill();
    expect(order).toMatchObject({ situacao: 'issued', nota: ID });
  });

  for (const [what, answers, order] of [
    ['deleted after the lost answer', [refused(409, 'nfse.reference_in_use'), listed()], { situacao: 'não mostrada' }],
    ['deleted before its outcome was read', [accepted, unknown], { situacao: 'não mostrada', nota: ID }],
    [
      'about another amount',
      [refused(409, 'idempotency_key_reuse'), listed(invoice('issued'))],
      { situacao: 'diferente' },
    ],
  ] as const)
    it(`loja-express.ts asks no more for an order whose invoice is ${what}`, async () => {
      const { start } = await facing(answers);
      const shop = start('loja-express.ts');
      const url = await shop.says(/(http:\S+)/);
      const number = what.length;
      const headers = { 'content-type': 'application/json' };
      const centavos = order.situacao === 'diferente' ? 2000 : 1000;
      await fetch(`${url}/pedidos/${number}/pago`, { method: 'POST', headers, body: JSON.stringify({ centavos }) });
      const seen = await eventually(
        async () => (await (await fetch(`${url}/pedidos/${number}`)).json()) as { situacao: string },
        ({ situacao }) => situacao !== 'aberto',
      );
      await shop.kill();
      expect(seen).toMatchObject({ ...order, aviso: expect.any(String) });
    });

  it('cancelar.ts asks to be run again when a cancel that may have arrived is answered 503', async () => {
    const cancelable = { ...invoice('issued'), cancelable_until: '2026-12-01T02:59:59.000Z' };
    for (const read of [answered(200, cancelable), disabled]) {
      const { run, methods } = await facing([listed(cancelable), unavailable, read]);
      const out = expect.stringMatching(/^ainda sem resultado: rode de novo mais tarde/);
      expect(await run('cancelar.ts', 'p-15')).toEqual({ code: 0, out, complaint: '' });
      expect(methods()).toEqual(['GET', 'POST', 'GET']);
    }
  });

  it('cancelar.ts asks again in its next run while the invoice shows no cancellation', async () => {
    const cancelable = { ...invoice('issued'), cancelable_until: '2026-12-01T02:59:59.000Z' };
    const [pending, canceled] = ['pending', 'succeeded'].map((status) => ({ ...cancelable, cancellation: { status } }));
    const { run, methods } = await facing([
      listed(cancelable),
      upstream,
      answered(200, cancelable),
      listed(cancelable),
      answered(202, pending ?? {}),
      answered(200, canceled ?? {}),
    ]);
    expect((await run('cancelar.ts', 'p-16')).out).toMatch(/^ainda sem resultado: rode de novo mais tarde/);
    expect(await run('cancelar.ts', 'p-16')).toEqual({ code: 0, out: 'cancelada\n', complaint: '' });
    expect(methods()).toEqual(['GET', 'POST', 'GET', 'GET', 'POST', 'GET']);
  });

  for (const [need, file] of issuers.filter(([, name]) => !name.endsWith('.ts')))
    itWith(need, `${file} waits ${WAIT_S} s when Retry-After is a date`, async () => {
      const { api, run } = await facing([dated, accepted, dated, issued]);
      expect(await run(file, 'p-4', '1000')).toMatchObject({ code: 0, out: `emitida: ${ACCESS_KEY}\n` });
      const pauses = pausesOf(api);
      expect([pauses.length, pauses.filter((ms) => ms < LEAST_MS)]).toEqual([2, []]);
    });

  it(`esperar.mjs of the guide waits ${WAIT_S} s when Retry-After is a date, and reads on after an answer of a proxy`, async () => {
    const [, program = ''] = /<<'FIM'\n([\s\S]*?)\nFIM\n/.exec(readPage('docs/guia/vida-da-nota.md')) ?? [];
    await examples.programs.write('esperar.mjs', program);
    const answers = [accepted, dated, answered(200, { ok: true }), upstream, issued];
    const { api, methods } = await facing(answers);
    const { run } = examples.programs.within({ API: api.url, KEY: 'svc_sk_test_any', REFERENCE: 'guia-2' });
    expect(await run('esperar.mjs')).toEqual({ code: 0, out: 'issued\n', complaint: '' });
    expect(methods()).toEqual(['POST', 'GET', 'GET', 'GET', 'GET']);
    expect(pausesOf(api)[0]).toBeGreaterThanOrEqual(LEAST_MS);
  });

  it('esperar.mjs of the guide follows no redirect', async () => {
    const [, program = ''] = /<<'FIM'\n([\s\S]*?)\nFIM\n/.exec(readPage('docs/guia/vida-da-nota.md')) ?? [];
    await examples.programs.write('esperar.mjs', program);
    const other = await facing([issued]);
    const { api } = await facing([accepted, redirectTo(other.api), issued]);
    const { run } = examples.programs.within({ API: api.url, KEY: 'svc_sk_test_any', REFERENCE: 'guia-2' });
    expect(await run('esperar.mjs')).toEqual({ code: 0, out: 'issued\n', complaint: '' });
    expect(other.api.asked).toEqual([]);
  });

  for (const [what, key] of [
    ['the placeholder of the pages', 'svc_sk_test_…'],
    ['none', ''],
  ] as const)
    for (const [need, file] of [
      ['python', 'emitir.py'],
      ['php', 'emitir.php'],
    ] as const)
      itWith(need, `${file} names NFSE_KEY before it asks anything when the key is ${what}`, async () => {
        const { run, api } = await facing([accepted], { NFSE_KEY: key });
        const complaint = expect.stringMatching(/^NFSE_KEY não tem uma chave: /);
        expect(await run(file, 'p-5', '1000')).toEqual({ code: 1, out: '', complaint });
        expect(api.asked).toEqual([]);
      });

  for (const [what, lines, told] of [
    ['in Windows-1252', ['1;1;;;1000;Mensalidade de março'], /^\S+ não está em UTF-8: salve .*; nada foi enviado\n$/],
    ['with a field too many', ['1;1;;;1000;A', '', '2;1;;;1000;Plano A; adicional'], /, linha 4: 7 campos em vez de 6/],
    ['with a field too few', ['1;1;;;1000'], /, linha 2: 5 campos em vez de 6/],
    ['with two sales of one order and try', ['1;1;;;1000;A', '1;1;;;2000;B'], /, linha 3: mesmo pedido.* da linha 2/],
  ] as const)
    it(`lote-noturno.ts sends and notes nothing of a file ${what}`, async () => {
      const { run, api } = await facing([accepted]);
      const [csv, ledger] = [
        join(examples.programs.folder, 'errado.csv'),
        join(examples.programs.folder, 'errado.jsonl'),
      ];
      writeFileSync(csv, `${HEADER}\n${lines.join('\n')}\n`, 'latin1');
      const complaint = expect.stringMatching(told);
      expect(await run('lote-noturno.ts', csv, ledger)).toEqual({ code: 1, out: '', complaint });
      expect([api.asked, readFileSync(ledger, 'utf8')]).toEqual([[], '']);
    });

  it('lote-noturno.ts sends and notes nothing of a file without its header', async () => {
    const csv = written('sem-cabecalho.csv', ['1;1;;;1000;A', '2;1;;;1000;B']);
    const { run, api } = await facing([accepted]);
    const complaint = expect.stringMatching(/, linha 1: não é o cabeçalho "pedido;.*"; nada foi enviado\n$/);
    expect(await run('lote-noturno.ts', csv, 'sem-cabecalho.jsonl')).toEqual({ code: 1, out: '', complaint });
    expect(api.asked).toEqual([]);
  });

  it('lote-noturno.ts sends nothing when a row is not the one that the ledger has', async () => {
    const { run, api } = await facing([accepted, issued]);
    const night = (row: string) => run('lote-noturno.ts', written('mudado.csv', [HEADER, row]), 'mudado.jsonl');
    expect(await night('1;1;;;1000;A')).toMatchObject({ code: 0, out: 'lote-1-1: emitida\n' });
    const { length } = api.asked;
    const complaint = expect.stringMatching(
      /, linha 2: mudou depois que entrou em mudado\.jsonl; .*nada foi enviado\n$/,
    );
    for (const row of ['1;1;;;2000;A', '1;1;;;1000;B', '1;1;11222333000181;X;1000;A'])
      expect(await night(row)).toEqual({ code: 1, out: '', complaint });
    expect(api.asked).toHaveLength(length);
  });

  it('lote-noturno.ts adopts no invoice with another content, and tells the other rows all the same', async () => {
    const rows = ['1;1;;;2000;A', '2;1;;;1000;B', '3;1;11222333000181;X;1000;A', '4;1;;;1000;A', '5;1;;;1000;{{mes}}'];
    const csv = written('sem-livro.csv', [HEADER, ...rows]);
    const [keyReuse, inUse] = [refused(409, 'idempotency_key_reuse'), refused(409, 'nfse.reference_in_use')];
    const { run } = await facing([
      ...[keyReuse, inUse, keyReuse, inUse, inUse].flatMap((one) => [one, listed(invoice('issued'))]),
      issued,
    ]);
    const { code, out } = await run('lote-noturno.ts', csv, 'sem-livro.jsonl');
    const other = (row: string) => expect.stringMatching(`^lote-${row}-1: a nota ${ID}, com outro valor, descrição ou`);
    const lines = [other('1'), other('2'), other('3'), 'lote-4-1: emitida', 'lote-5-1: emitida', ''];
    expect([code, out.split('\n')]).toEqual([0, lines]);
  });

  for (const [status, said] of [
    ['queued', 'a nota está queued: espere o resultado e peça o cancelamento depois\n'],
    ['processing', 'a nota está processing: espere o resultado e peça o cancelamento depois\n'],
    ['failed', 'a nota falhou: nada foi emitido, e não há o que cancelar\n'],
  ] as const)
    it(`cancelar.ts asks for no cancellation of an invoice that is ${status}, and says what to do`, async () => {
      const { run, methods } = await facing([listed(invoice(status))]);
      expect(await run('cancelar.ts', 'p-6')).toEqual({ code: 0, out: said, complaint: '' });
      expect(methods()).toEqual(['GET']);
    });

  it('exportacao.ts shows the message that names the missing fields, and tells a canceled invoice', async () => {
    const message = 'Faltam campos obrigatórios da exportação: customer.name, foreign_amount. Envie todos.';
    const error = { code: 'nfse.export_incomplete', message, retryable: false };
    const incomplete = await facing([answered(422, { error })]);
    const out = `nfse.export_incomplete: ${message}\n`;
    expect(await incomplete.run('exportacao.ts', 'p-7')).toMatchObject({ code: 1, out });
    const canceled = await facing([answered(202, invoice('canceled'))]);
    const told = `a nota foi emitida e está cancelada: ${ACCESS_KEY}\n`;
    expect(await canceled.run('exportacao.ts', 'p-8')).toMatchObject({ code: 0, out: told });
  });

  it('loja-hono.ts refuses a bad body for good', async () => {
    const { start, methods } = await facing([listed()]);
    const shop = start('loja-hono.ts');
    const url = await shop.says(/(http:\S+)/);
    for (const body of ['centavos=1', '', 'null', '{}', '{"centavos":"1"}']) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/pedidos/1/nota/1`, { method: 'POST', headers, body });
      expect([body, answer.status, await answer.json()]).toMatchObject([body, 400, { repetir: false }]);
    }
    await shop.kill();
    expect(new Set(methods())).toEqual(new Set(['GET']));
  });
});
