import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { waitFor } from '../support/harness/careful-client.js';
import { type ExamplePrograms, installExamples } from '../support/harness/example-programs.js';
import { type FaultyLine, openFaultyLine, REFUSED_FOR_S } from '../support/harness/faulty-line.js';
import type { LedgerNote } from '../support/harness/ledger.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { orderFault } from '../support/harness/simulator-process.js';
import { itWith, type NeedName } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { readPage } from '../tools/documents/pages.js';
import { ROOT } from '../tools/root.js';

const files = readdirSync(join(ROOT, 'docs/examples')).filter((name) => !/\.(?:md|csv)$/.test(name));

describe('the examples', () => {
  it('are ten, each begins with what it shows and how it is run, and each is in the list', () => {
    expect(files).toHaveLength(10);
    for (const file of files) {
      const text = readPage(`docs/examples/${file}`);
      expect([file, /^(?:#!.*\n|<\?php\n)?(?:\/\*|# |""")/.test(text)]).toEqual([file, true]);
      expect(text).toContain(`docs/examples/${file}`);
      expect(readPage('docs/examples/README.md')).toContain(`](${file})`);
    }
  });
});

const DONE_WITHIN_MS = 120_000;

/** An issued invoice, one that the authorizer refuses, and one without a known outcome: program, its files' prefix, amount of the first. */
const issuers: readonly [NeedName, string, string, number][] = [
  ['node', 'emitir-e-esperar.ts', 'ts', 310_000],
  ['curl', 'conexao-cortada.sh', 'sh', 320_000],
  ['python', 'emitir.py', 'py', 330_000],
  ['php', 'emitir.php', 'php', 340_000],
];

describeWithPostgres('the examples against the service, over a line with accidents', () => {
  let running: RunningService;
  let line: FaultyLine;
  let programs: ExamplePrograms;
  beforeAll(async () => {
    running = await startRunningService();
    line = await openFaultyLine(running.service.url);
    programs = await installExamples({ NFSE_URL: line.url, NFSE_KEY: running.keys.test, PORT: '0' });
  });
  afterAll(async () => {
    await programs?.close();
    await line?.close();
    await running?.close();
  });

  const refuse = (amountInCents: number): Promise<void> => {
    const fault = { on: 'issue', kind: 'reject', code: 'E0312' } as const;
    return orderFault(running.service.simulator?.controlUrl ?? '', fault, amountInCents);
  };
  const postsOf = (key: string) => line.passed.filter((one) => one.method === 'POST' && one.key === key);
  /** When programs were killed. */
  const deaths: number[] = [];
  const fileOf = (name: string): string => readFileSync(join(programs.folder, name), 'latin1');

  describe.concurrent('each shows the right reaction', () => {
    for (const [need, file, prefix, amount] of issuers)
      itWith(need, `${file} issues, tells a refusal, and calls support without an outcome`, async () => {
        await refuse(amount + 1);
        line.disguise(`${prefix}-lost`, 'indeterminate');
        const [issued, refused, lost] = await Promise.all([
          programs.run(file, `${prefix}-good`, String(amount)),
          programs.run(file, `${prefix}-bad`, String(amount + 1)),
          programs.run(file, `${prefix}-lost`, String(amount + 2)),
        ]);
        expect(issued).toMatchObject({ code: 0, out: expect.stringMatching(/^emitida: \d{50}\n$/) });
        expect(refused).toMatchObject({ code: 1, complaint: expect.stringMatching(/recusada.*E0312/) });
        expect(lost).toMatchObject({ code: 2, complaint: expect.stringMatching(/suporte e informe nfse_/) });
      });

    it('cancelar.ts cancels once, and then sees that it is done', async () => {
      expect(await programs.run('emitir-e-esperar.ts', 'to-cancel', '350000')).toMatchObject({ code: 0 });
      expect([fileOf('to-cancel.xml').slice(0, 5), fileOf('to-cancel.pdf').slice(0, 5)]).toEqual(['<?xml', '%PDF-']);
      expect(await programs.run('cancelar.ts', 'to-cancel')).toMatchObject({ code: 0, out: 'cancelada\n' });
      expect((await programs.run('cancelar.ts', 'to-cancel')).out).toBe('a nota já está cancelada\n');
      const again = await programs.run('emitir-e-esperar.ts', 'to-cancel', '350000');
      expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/foi emitida e está cancelada: \d{50}\n$/) });
      expect((await programs.run('cancelar.ts', 'nowhere')).out).toBe('não há nota deste pedido\n');
    });

    it('exportacao.ts issues to a customer abroad', async () => {
      const { out } = await programs.run('exportacao.ts', 'abroad');
      expect(out).toMatch(/^emitida em USD: \d{50}\n$/);
    });

    it('lote-noturno.ts goes on after its death, and baixar-mes.ts downloads what it issued', async () => {
      const csv = join(programs.folder, 'examples/vendas.csv');
      const first = programs.start('lote-noturno.ts', csv, 'livro.jsonl');
      // In the middle: the second invoice is with the service, and its answer lost.
      await eventually(
        async () => postsOf('lote-2002-1').some(({ answer }) => answer.kind === 'cut'),
        (lost) => lost,
      );
      await first.kill();
      deaths.push(performance.now());
      // As if the death had come in the middle of a write.
      writeFileSync(join(programs.folder, 'livro.jsonl'), '{"chave":"lote-2003-1","corpo":{}', { flag: 'a' });
      const { code, out } = await programs.run('lote-noturno.ts', csv, 'livro.jsonl');
      expect(code).toBe(0);
      expect(out.split('\n')).toEqual([
        'lote-2001-1: emitida',
        'lote-2002-1: emitida',
        'lote-2003-1: emitida',
        expect.stringMatching(/^lote-2004-1: falhou, corrija a linha e aumente a tentativa: .*E0188/),
        '',
      ]);
      const corrected = join(programs.folder, 'corrected.csv');
      writeFileSync(corrected, `${HEADER}\n2004;2;11222333000181;CLIENTE FICTICIO;240001;Plano C\n`);
      expect((await programs.run('lote-noturno.ts', corrected, 'livro.jsonl')).out).toContain('lote-2004-2: emitida\n');
      const [{ body = '{}' } = {}] = postsOf('lote-2001-1');
      const { competence } = await shown(JSON.parse(body).reference);
      const month = competence.slice(0, 7);
      const download = () => programs.run('baixar-mes.ts', month, 'livro.jsonl', 'notas');
      expect(await download()).toMatchObject({ code: 0, out: `8 arquivos novos em notas/${month}\n` });
      expect((await download()).out).toBe(`0 arquivos novos em notas/${month}\n`);
      expect(
        readdirSync(join(programs.folder, 'notas', month)).filter((name) => /\.(?:xml|pdf)$/.test(name)),
      ).toHaveLength(8);
    });

    it('loja-express.ts takes an order once, and goes on after its death', async () => {
      const shop = programs.start('loja-express.ts');
      const url = await shop.says(/(http:\S+)/);
      const pay = async (at: string) => {
        const headers = { 'content-type': 'application/json' };
        const init = { method: 'POST', headers, body: JSON.stringify({ centavos: 360_000 }) };
        return (await fetch(`${at}/pedidos/77/pago`, init)).status;
      };
      expect([await pay(url), await pay(url)]).toEqual([202, 202]);
      await eventually(
        async () => postsOf('loja-77-1').length,
        (count) => count > 0,
      );
      await shop.kill();
      deaths.push(performance.now());
      const again = await programs.start('loja-express.ts').says(/(http:\S+)/);
      expect(await pay(again)).toBe(202);
      await waitFor('the order to be done', DONE_WITHIN_MS, async () => {
        const { situacao }: { situacao: string } = await (await fetch(`${again}/pedidos/77`)).json();
        return situacao === 'issued' ? situacao : undefined;
      });
    });

    it('loja-hono.ts issues, shows and hands out the PDF, and refuses a second try of an issued invoice', async () => {
      const url = await programs.start('loja-hono.ts').says(/(http:\S+)/);
      const headers = { 'content-type': 'application/json' };
      const post = (attempt: number) =>
        fetch(`${url}/pedidos/88/nota/${attempt}`, { method: 'POST', headers, body: '{"centavos":370000}' });
      expect((await post(1)).status).toBe(202);
      expect((await post(1)).status).toBe(200);
      const invoice = await waitFor('the invoice to be issued', DONE_WITHIN_MS, async () => {
        const seen: { status: string } = await (await fetch(`${url}/pedidos/88/nota/1`)).json();
        return seen.status === 'issued' ? seen : undefined;
      });
      expect(invoice).toMatchObject({ podeEmitirDeNovo: false });
      const pdf = await fetch(`${url}/pedidos/88/nota/1/pdf`);
      expect([pdf.status, (await pdf.text()).slice(0, 5)]).toEqual([200, '%PDF-']);
      expect((await post(2)).status).toBe(409);
      expect((await fetch(`${url}/pedidos/99/nota/1`)).status).toBe(404);
    });
  });

  const shown = async (reference: string): Promise<{ competence: string }> => {
    const { body } = await running.call<{ data: [{ competence: string }] }>(
      'test',
      'GET',
      `/v1/nfse?reference=${reference}`,
    );
    return body.data[0];
  };

  const issuePosts = () => line.passed.filter(({ method, path }) => method === 'POST' && path === '/v1/nfse');

  it('has seen one key and one body for each reference, and no cancel twice', () => {
    const posts = issuePosts();
    expect(posts.length).toBeGreaterThan(20);
    const sent = new Map<string, Set<string>>();
    for (const { key, body } of posts) {
      const { reference }: { reference: string } = JSON.parse(body);
      sent.set(reference, (sent.get(reference) ?? new Set()).add(`${key} ${body}`));
    }
    expect([...sent].filter(([, ways]) => ways.size !== 1)).toEqual([]);
    const cancels = line.passed.filter(({ path }) => path.endsWith('/cancel'));
    expect(cancels).toHaveLength(1);
    expect(cancels[0]?.answer).toEqual({ kind: 'cut' });
  });

  it('has seen the line of the activity in each request', () => {
    for (const { body } of issuePosts())
      expect(JSON.parse(body)).toMatchObject({ cnae: '6201501', service_code: expect.stringMatching(/^010[16]01$/) });
  });

  it('was never asked again before Retry-After was over', () => {
    const early = line.passed.filter((one, at) => {
      const before = line.passed.slice(0, at).findLast(({ path, key }) => path === one.path && key === one.key);
      if (before?.answer.kind !== 'refused') return false;
      const { at: refusedAt } = before.answer;
      // A program that died between the two does not remember the refusal.
      const isAnother = deaths.some((died) => refusedAt < died && died < one.cameAt);
      return !isAnother && one.cameAt - refusedAt < REFUSED_FOR_S * 1_000 - CLOCK_STEP_MS;
    });
    expect(early).toEqual([]);
  });

  it('left one note for each request that was issued', async () => {
    const ledger = (await running.control('GET', '/_control/ledger?environment=test')) as readonly LedgerNote[];
    const asked = issuePosts().map(({ body }) => JSON.parse(body) as { reference: string; amount_in_cents: number });
    const wanted = asked.filter(({ reference }) => !/-bad$|^lote-2004-1$/.test(reference));
    expect(ledger.map(({ amount_in_cents }) => amount_in_cents).toSorted()).toEqual(
      [...new Set(wanted.map(({ amount_in_cents }) => amount_in_cents))].toSorted(),
    );
  });
});

const HEADER = 'pedido;tentativa;documento;cliente;centavos;descricao';

/** A timer may end within the millisecond before its time. */
const CLOCK_STEP_MS = 2;
