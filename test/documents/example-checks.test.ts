import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
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
import { ROOT } from '../tools/root.js';

const issuers: readonly [NeedName, string, string][] = [
  ['node', 'emitir-e-esperar.ts', 'npx tsx'],
  ['curl', 'conexao-cortada.sh', 'bash'],
  ['python', 'emitir.py', 'python3'],
  ['php', 'emitir.php', 'php'],
];

/** Refusals of the company, which no line and no order can mend. */
const OF_THE_COMPANY = [
  'company.certificate_missing',
  'company.issuer_not_enabled',
  'nfse.municipality_not_covered',
  'nfse.municipal_registration_missing',
  'nfse.nbs_invalid',
  'nfse.cnae_missing_nbs',
  'nfse.service_code_not_allowed',
];

const noRoute = refused(404, 'route_not_found');

describe('the examples with what people give them', () => {
  const examples = scriptedExamples();
  const { facing, written } = examples;

  for (const [need, file, command] of issuers) {
    itWith(need, `${file} sends nothing for an amount that is not made of digits, and says how it is run`, async () => {
      const { run, api } = await facing([accepted]);
      for (const amount of ['1500.00', '1500.50', '1_500', '-5', '1500 ', '1e5', 'x', '1'.repeat(17)]) {
        const complaint = expect.stringMatching(`^uso: ${command} ${file} PEDIDO CENTAVOS, .*\n$`);
        expect([amount, await run(file, 'p-1', amount)]).toEqual([amount, { code: 1, out: '', complaint }]);
      }
      expect(api.asked).toEqual([]);
    });

    itWith(need, `${file} sends nothing for an order that no header can carry`, async () => {
      const { run, api } = await facing([accepted]);
      for (const order of ['pedido-Ω', 'pedido-ç', 'a b', 'p'.repeat(65)]) {
        const complaint = expect.stringMatching(`^uso: ${command} ${file} PEDIDO CENTAVOS, o pedido sem espaços.*\n$`);
        expect([order, await run(file, order, '1000')]).toEqual([order, { code: 1, out: '', complaint }]);
      }
      expect(api.asked).toEqual([]);
    });

    itWith(need, `${file} takes an address with slashes at its end`, async () => {
      const { run, api, methods } = await facing([accepted, issued]);
      expect(await run(file, 'p-2', '1000')).toMatchObject({ code: 0 });
      const paths = api.asked.map(({ path }) => path);
      const slashed = await facing([accepted, issued]);
      const url = `${slashed.api.url}//`;
      expect(await examples.programs.within({ NFSE_URL: url }).run(file, 'p-2', '1000')).toMatchObject({ code: 0 });
      expect(slashed.api.asked.map(({ path }) => path)).toEqual(paths);
      expect(methods()).toEqual(slashed.methods());
    });

    itWith(need, `${file} tells a wrong address as one`, async () => {
      const { run, methods } = await facing([noRoute]);
      const complaint = expect.stringMatching(/^NFSE_URL não é o endereço da API, corrija e rode de novo/);
      expect(await run(file, 'p-3', '1000')).toEqual({ code: 3, out: '', complaint });
      expect(methods()).toEqual(['POST']);
    });
  }

  for (const [need, file] of issuers.filter(([name]) => name === 'python' || name === 'php'))
    itWith(need, `${file} names NFSE_URL when it is no HTTP address`, async () => {
      const { run } = examples.programs.within({ NFSE_URL: '127.0.0.1:3000' });
      const complaint = expect.stringMatching(/^NFSE_URL não é um endereço: /);
      expect(await run(file, 'p-4', '1000')).toEqual({ code: 1, out: '', complaint });
    });

  it('emitir-e-esperar.ts writes the documents of an order with slashes into its own folder', async () => {
    const { run } = await facing([accepted, issued]);
    for (const order of ['2026/15', '../15']) {
      expect(await run('emitir-e-esperar.ts', order, '1000')).toMatchObject({ code: 0, complaint: '' });
      const file = `${order.replace('/', '%2F')}.pdf`;
      expect(readdirSync(examples.programs.folder)).toContain(file);
    }
  });

  it('emitir-e-esperar.ts that cannot write a document does not end as after a refusal', async () => {
    const { run } = await facing([accepted, issued]);
    mkdirSync(join(examples.programs.folder, 'p-5.xml'));
    const complaint = expect.stringMatching(/^rode de novo com o mesmo pedido: .*EISDIR/);
    expect(await run('emitir-e-esperar.ts', 'p-5', '1000')).toEqual({ code: 3, out: '', complaint });
  });

  itWith('curl', 'conexao-cortada.sh sends nothing for an order that would end its text in the JSON', async () => {
    const { run, api } = await facing([accepted]);
    for (const order of ['a"b', 'a\\b']) expect(await run('conexao-cortada.sh', order)).toMatchObject({ code: 1 });
    expect(api.asked).toEqual([]);
  });

  it('exportacao.ts sends nothing for an order that no header can carry', async () => {
    const { run, api } = await facing([accepted]);
    const complaint = 'uso: npx tsx exportacao.ts FATURA, sem espaços nem acentos\n';
    expect(await run('exportacao.ts', 'fatura-ç')).toEqual({ code: 1, out: '', complaint });
    expect(api.asked).toEqual([]);
  });

  for (const [what, lines, told] of [
    ['with an amount of reais', ['1;1;;;1000;A', '2;1;;;1500.00;B'], /, linha 3: centavos leva só .*"1500\.00"; nada/],
    ['with an empty amount', ['1;1;;;;A'], /, linha 2: centavos leva só algarismos/],
    ['with quotes of a spreadsheet', ['1;1;;;1000;"Plano ""A"""'], /, linha 2: um campo começa com aspas.*; nada foi/],
    ['with a semicolon in quotes', ['1;1;;"A; B";1000;C'], /, linha 2: um campo começa com aspas/],
    ['with an order that no header can carry', ['1ç;1;;;1000;A'], /, linha 2: pedido e tentativa não levam espaços/],
  ] as const)
    it(`lote-noturno.ts sends and notes nothing of a file ${what}`, async () => {
      const { run, api } = await facing([accepted]);
      const csv = written('conferido.csv', [HEADER, ...lines]);
      const ledger = join(examples.programs.folder, 'conferido.jsonl');
      const complaint = expect.stringMatching(told);
      expect(await run('lote-noturno.ts', csv, ledger)).toEqual({ code: 1, out: '', complaint });
      expect([api.asked, readFileSync(ledger, 'utf8')]).toEqual([[], '']);
    });

  it('lote-noturno.ts sends of the customer what the row has, and adopts no invoice of another name', async () => {
    const rows = ['1;1;;Maria;1000;A', '2;1;11222333000181;;1000;A', '3;1;52998224725;Ana;1000;A', '4;1;;;1000;A'];
    const csv = written('clientes.csv', [HEADER, ...rows]);
    const { run } = await facing([accepted, accepted, accepted, accepted, issued]);
    expect(await run('lote-noturno.ts', csv, 'clientes.jsonl')).toMatchObject({ code: 0 });
    const noted = readFileSync(join(examples.programs.folder, 'clientes.jsonl'), 'utf8').split('\n').slice(0, 4);
    expect(noted.map((line) => JSON.parse(line).corpo.customer)).toEqual([
      { name: 'Maria' },
      { document: '11222333000181' },
      { document: '52998224725', name: 'Ana' },
      undefined,
    ]);
    const changed = written('clientes.csv', [HEADER, '1;1;;Joana;1000;A']);
    const complaint = expect.stringMatching(/, linha 2: mudou depois que entrou em clientes\.jsonl/);
    expect(await run('lote-noturno.ts', changed, 'clientes.jsonl')).toEqual({ code: 1, out: '', complaint });
    const named = { ...invoice('issued'), customer: { name: 'Maria', type: 'br' } };
    const other = await facing([
      refused(409, 'nfse.reference_in_use'),
      answered(200, { object: 'list', data: [named] }),
    ]);
    const { out } = await other.run('lote-noturno.ts', changed, 'sem-o-livro.jsonl');
    expect(out).toMatch(/^lote-1-1: a nota \S+, com outro valor, descrição ou cliente/);
  });

  for (const code of OF_THE_COMPANY)
    it(`lote-noturno.ts stops at ${code}, and issues the line when it is mended`, async () => {
      const csv = written('parado.csv', [HEADER, '1;1;;;1000;A', '2;1;;;1000;B', '3;1;;;1000;C']);
      const ledger = `${code}.jsonl`;
      const { run, methods } = await facing([accepted, refused(422, code), issued, accepted, accepted, issued]);
      const open = (row: string) => `lote-${row}-1: aberta, rode de novo quando o suporte tiver corrigido o cadastro`;
      const first = await run('lote-noturno.ts', csv, ledger);
      expect(first).toMatchObject({ code: 1, complaint: 'o envio parou, chame o suporte: Recusado.\n' });
      const told = [open('2'), open('3')].map((start) => expect.stringMatching(`^${start}`));
      expect(first.out.split('\n')).toEqual(['lote-1-1: emitida', ...told, '']);
      expect(await run('lote-noturno.ts', csv, ledger)).toEqual({
        code: 0,
        out: 'lote-1-1: emitida\nlote-2-1: emitida\nlote-3-1: emitida\n',
        complaint: '',
      });
      expect(methods()).toEqual(['POST', 'POST', 'GET', 'POST', 'POST', 'GET', 'GET']);
    });

  it('the shops refuse an order that no header can carry, and loja-express.ts an amount that is no whole number', async () => {
    const { start, api } = await facing([accepted]);
    const headers = { 'content-type': 'application/json' };
    const express = start('loja-express.ts');
    const shop = await express.says(/(http:\S+)/);
    for (const [order, body] of [
      ['701', '{"centavos":"1500.00"}'],
      ['701', '{"centavos":1500.5}'],
      ['701', '{}'],
      ['7%C3%A7', '{"centavos":1000}'],
    ] as const)
      expect((await fetch(`${shop}/pedidos/${order}/pago`, { method: 'POST', headers, body })).status).toBe(400);
    await express.kill();
    const hono = start('loja-hono.ts');
    const other = await hono.says(/(http:\S+)/);
    const body = '{"centavos":1000}';
    const answer = await fetch(`${other}/pedidos/7%C3%A7/nota/1`, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { repetir: false }]);
    await hono.kill();
    expect(api.asked).toEqual([]);
  });

  it('loja-hono.ts issues nothing for a body that a page of another site may send without asking', async () => {
    const { start, api } = await facing([listed(), accepted]);
    const shop = start('loja-hono.ts');
    const url = await shop.says(/(http:\S+)/);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'text/plain;application/json']) {
      const sent = { method: 'POST', headers: { 'content-type': type }, body: '{"centavos":1000}' };
      const answer = await fetch(`${url}/pedidos/8/nota/1`, sent);
      expect([type, answer.status, await answer.json()]).toMatchObject([type, 415, { repetir: false }]);
    }
    await shop.kill();
    expect(api.asked).toEqual([]);
  });

  it('loja-express.ts keeps an order open that the company cannot issue now', async () => {
    const { start, methods } = await facing([refused(422, 'company.issuer_not_enabled')]);
    const shop = start('loja-express.ts');
    const url = await shop.says(/(http:\S+)/);
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/pedidos/601/pago`, { method: 'POST', headers, body: '{"centavos":1000}' });
    await eventually(
      async () => shop.complained(),
      (complaint) => complaint !== '',
    );
    expect(await (await fetch(`${url}/pedidos/601`)).json()).toMatchObject({ situacao: 'aberto' });
    expect(methods()).toEqual(['POST']);
    await shop.kill();
    const { complaint } = await shop.ended;
    expect(complaint).toMatch(/^pedido 601: .*company\.issuer_not_enabled: Recusado\./);
  });

  it('baixar-mes.ts names what has no outcome yet, and then ends with 1', async () => {
    const month = (status: string) => answered(200, { ...invoice(status), competence: '2026-11-05' });
    const ledger = written('abertas.jsonl', [
      '{"chave":"a","corpo":{}}',
      '{"chave":"b","fim":"recusada"}',
      ...['failed', 'queued', 'indeterminate', 'new', 'other-month', 'issued'].map(
        (id) => `{"chave":"${id}","id":"${id}"}`,
      ),
    ]);
    const { run } = await facing([
      ...['failed', 'queued', 'indeterminate', 'new'].map(month),
      answered(200, { ...invoice('queued'), competence: '2026-12-01' }),
      month('issued'),
    ]);
    expect(await run('baixar-mes.ts', '2026-11', ledger, 'abertas')).toEqual({
      code: 1,
      out: '2 arquivos novos em abertas/2026-11\n',
      complaint: [
        'faltam 4 notas sem resultado:',
        'a: enviada sem resposta, rode o lote de novo',
        'queued: queued, rode de novo mais tarde',
        'indeterminate: indeterminate, não emita de novo e chame o suporte',
        'new: new, não emita de novo e chame o suporte',
        '',
      ].join('\n'),
    });
    const folder = join(examples.programs.folder, 'abertas/2026-11');
    expect(readdirSync(folder).toSorted()).toEqual([`${ACCESS_KEY}.pdf`, `${ACCESS_KEY}.xml`]);
  });

  const pages = readdirSync(join(ROOT, 'docs/guia')).map((name) => readPage(`docs/guia/${name}`));
  const loops = pages.flatMap((page) => page.match(/^(?:until|while) curl .*$/gm) ?? []);

  itWith('curl', 'the loops of the guide wait until the invoice shows an outcome', async () => {
    expect(loops).toHaveLength(7);
    const away = answered(503, { error: { code: 'service_unavailable', retryable: true } });
    const gone = answered(429, { error: { code: 'rate_limit_exceeded', retryable: true } });
    const pending = answered(200, { ...invoice('issued'), cancellation: { status: 'pending' } });
    for (const [index, loop] of [...new Set(loops.map((line) => line.replace(/sleep \d/, 'sleep 0')))].entries()) {
      const open = loop.includes('pending') ? pending : accepted;
      const { api, methods } = await facing([away, gone, answered(502, {}), open, issued]);
      await examples.programs.write(`laco-${index}.sh`, `${loop}\n`);
      const { code } = await examples.programs
        .within({ API: api.url, KEY: 'svc_sk_test_any', ID })
        .run(`laco-${index}.sh`);
      expect([loop, code, methods()]).toEqual([loop, 0, Array(5).fill('GET')]);
    }
  });

  itWith(
    'curl',
    'the loops of the guide end where asking again changes nothing, as without an id or with a wrong key',
    async () => {
      for (const [index, loop] of [...new Set(loops)].entries()) {
        for (const status of [401, 404]) {
          const { api, methods } = await facing([refused(status, 'not_found'), issued]);
          const name = `fim-${index}-${status}.sh`;
          await examples.programs.write(name, `${loop}\n`);
          const { code } = await examples.programs.within({ API: api.url, KEY: 'svc_sk_test_any', ID: '' }).run(name);
          expect([loop, code, methods()]).toEqual([loop, 0, ['GET']]);
        }
      }
    },
  );
});
