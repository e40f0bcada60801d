import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expandMarkers } from '../../../src/domain/common/markers.js';
import { chapterNames } from '../../../src/http/docs/guide.js';
import { invoiceResponse } from '../../../src/http/openapi/schemas.js';
import { BASE_URL, createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { readPage } from '../../tools/documents/pages.js';
import { SAMPLE_PAGES } from '../../tools/documents/samples.js';
import { ROOT } from '../../tools/root.js';

const paths = ['/docs/guia', ...chapterNames.map((name) => `/docs/guia/${name}`)];

const htmlOf = async ({ call }: Harness, path: string): Promise<string> => {
  const response = await call(path, { key: 'none' });
  expect([path, response.status]).toEqual([path, 200]);
  return await response.text();
};

describe('the guide', () => {
  it('serves every file of docs/guia, and its requests are run with the samples of the documents', () => {
    const files = readdirSync(join(ROOT, 'docs/guia')).map((name) => `docs/guia/${name}`);
    expect(['README', ...chapterNames].map((name) => `docs/guia/${name}.md`).toSorted()).toEqual(files.toSorted());
    expect(SAMPLE_PAGES.filter((path) => path.startsWith('docs/guia/')).toSorted()).toEqual(files.toSorted());
    const blocks = files.flatMap((path) => readPage(path).match(/^```sh$/gm) ?? []);
    const played = files.flatMap((path) => {
      const sessions = readPage(path).match(/<!-- session begins -->[\s\S]*?<!-- session ends -->/g) ?? [];
      return sessions.flatMap((session) => session.match(/^```sh$/gm) ?? []);
    });
    expect(played.length).toBe(blocks.length);
    expect(played.length).toBeGreaterThan(10);
  });

  it.each(paths)('%s leads only to pages and places that exist, and shows no mark of the tests', async (path) => {
    const harness = createHarness();
    const html = await htmlOf(harness, path);
    expect(html).not.toContain('<!--');
    expect(html.match(/<h1/g)).toHaveLength(1);
    const links = [...html.matchAll(/href="([^"]+)"/g)]
      .map(([, href = '']) => href)
      .filter((href) => href !== 'data:,');
    for (const href of links) {
      expect(href).toMatch(/^[/#]/);
      const [target = '', fragment] = href.split('#');
      const there = target === '' ? html : await htmlOf(harness, target);
      if (fragment !== undefined) expect([href, there.includes(`id="${fragment}"`)]).toEqual([href, true]);
    }
  });

  it.each([
    ['o-que-nao-faz', ['tpEnteGov', 'tpOper', 'dest', 'CNPJ tem letras', 'vTotNF']],
    ['exportacao', ['BRL', 'nfse.currency_unsupported']],
  ])('%s names what is issued at the national portal, and what the authorizer adds', async (name, words) => {
    const html = await htmlOf(createHarness(), `/docs/guia/${name}`);
    expect(words.filter((word) => !html.includes(word))).toEqual([]);
    expect(html).toMatch(/emita (?:a nota )?no portal nacional/);
  });

  it.each([
    ['cancelar', ['Só então emita a nota certa', 'ainda não emitir outra']],
    ['falhas', ['uma lista vazia não prova que a nota não existe', 'não há o que corrigir']],
    ['repetir', ['Depois disso a mesma chave emite outra nota', 'Uma lista vazia não prova', 'e o corpo']],
    ['o-que-nao-faz', ['Marque no seu sistema', 'espere <code>canceled</code>']],
  ])('%s says what would make a second note of one sale', async (name, words) => {
    const html = await htmlOf(createHarness(), `/docs/guia/${name}`);
    expect(words.filter((word) => !html.includes(word))).toEqual([]);
  });

  it.each([
    ['ibs-cbs', ['Simples Nacional', 'MEI', 'vTotNF', 'Não diminua o preço por conta própria', 'IBSCBS']],
    ['o-que-nao-faz', ['Descontos', 'confirme com o contador', 'escolas e hospitais', 'não mude o preço']],
    ['fechar-o-mes', ['competence', 'não muda', 'nNFSe', 'vTotNF']],
    ['primeiros-passos', ['Não deixe o padrão escolher', 'cTribNac', 'is_default']],
    ['antes-da-primeira-nota', ['A1', 'inscrição municipal', 'SIMULADO', 'tomador', 'ConsultaPublica', 'request_id']],
    ['campos', ['Valor bruto', 'tomador sai como não identificado', 'acaba em failed']],
  ])('%s says what makes a note declare the wrong thing', async (name, words) => {
    const html = await htmlOf(createHarness(), `/docs/guia/${name}`);
    expect(words.filter((word) => !html.includes(word))).toEqual([]);
  });

  it('lists every chapter on its first page, in the order of the chapters', async () => {
    const html = await htmlOf(createHarness(), '/docs/guia');
    const listed = [...html.matchAll(/<li><a href="\/docs\/guia\/([\w-]+)">/g)].map(([, name]) => name);
    expect(listed).toEqual(chapterNames);
  });

  it.each(['/docs/guia/nope', '/docs/guia/README', '/docs/guia/__proto__', '/docs/guia/..%2f..%2fpackage'])(
    '%s is route_not_found',
    async (path) => {
      await expectRefusal(await createHarness().call(path, { key: 'none' }), 404, 'route_not_found');
    },
  );
});

describe('GET /llms.txt', () => {
  it('names pages that exist, and the rule that prevents a second note', async () => {
    const harness = createHarness();
    const response = await harness.call('/llms.txt', { key: 'none' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const text = await response.text();
    expect(text).toMatch(/^# .+\n\n> .+/);
    expect(text).toContain(
      'Com status indeterminate, com um status desconhecido e com cancellation.status failed, nunca',
    );
    expect(text).toContain('Envie sempre cnae e service_code');
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBe(chapterNames.length + 2);
    for (const link of links) expect(link.startsWith(`${BASE_URL}/`)).toBe(true);
    for (const link of links) await htmlOf(harness, link.replace(BASE_URL, ''));
  });
});

describe('the tables of the guide', () => {
  const rowsOf = (chapter: string): string[][] =>
    readPage(`docs/guia/${chapter}.md`)
      .split('\n')
      .filter((line) => /^\| `/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('`', '')),
      );

  it('name the column in each cell, for narrow screens', async () => {
    const html = await htmlOf(createHarness(), '/docs/guia/valores-de-teste');
    expect(html).toContain('<td data-label="ou amount_in_cents"><code>99990002</code></td>');
    expect(html).toContain('<td data-label="ou amount_in_cents"></td>');
  });

  it('show what each marker becomes', () => {
    const rows = rowsOf('marcadores');
    expect(rows).toHaveLength(6);
    for (const [marker = '', value, example = ''] of rows) {
      expect([marker, expandMarkers(marker, '2026-11-21T12:00:00.000Z')]).toEqual([marker, value]);
      expect(example).toContain(marker);
    }
  });

  it('name each field of an invoice, in the order of the answers', () => {
    expect(rowsOf('resposta').map(([field]) => field)).toEqual(Object.keys(invoiceResponse.entries));
  });

  it('explain each status of an invoice', () => {
    expect(rowsOf('vida-da-nota').map(([status]) => status)).toEqual(invoiceResponse.entries.status.pipe[0].options);
  });
});
