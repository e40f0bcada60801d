import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import { type ExamplePrograms, installExamples } from '../support/harness/example-programs.js';
import { type RunningService, startRunningService } from '../support/harness/running-service.js';
import { itWith, runtimes } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { ROOT } from '../tools/root.js';

/** Runs in each runtime; it is given the addresses of the client's two modules and a prefix for its references. */
const PROGRAM = `
const [client, errors, name] = process.argv.slice(2);
const { createClient, mayIssueAgain } = await import(client);
const { ApiError, isRefusal } = await import(errors);
const api = createClient({ baseUrl: process.env.NFSE_URL, key: process.env.NFSE_KEY });
const request = { amount_in_cents: 150_000, description: 'Consultoria', reference: name };
const issued = await api.issueAndWait(request, { idempotencyKey: name });
const accepted = await api.issue({ ...request, reference: name + '-2' });
const waited = await api.waitForOutcome(accepted.id);
const [xml, pdf] = [await api.download(issued.id, 'xml'), await api.download(issued.id, 'pdf')];
const refusal = await api.issue({ ...request, amount_in_cents: 160_000 }).catch((error) => error);
const canceled = await api.cancelAndWait(waited.id, { reason: 'other' });
const start = (bytes) => new TextDecoder('latin1').decode(bytes.slice(0, 5));
console.log(JSON.stringify([
  issued.status, waited.status, start(xml), start(pdf), canceled.status, mayIssueAgain(issued),
  refusal instanceof ApiError, isRefusal(refusal, 'nfse.reference_in_use'), refusal.status, /^req_/.test(refusal.requestId),
]));
`;

const ALL_WELL = ['issued', 'issued', '<?xml', '%PDF-', 'canceled', false, true, true, 409, true];

/** Deno gives a program nothing that it was not allowed, and takes an import of ./errors.js for errors.ts only if told to. */
const ALLOWED = ['--allow-net', '--allow-env', '--allow-read', '--sloppy-imports', '--no-config', '--quiet'];
const COMMANDS = { bun: [runtimes.bun], deno: [runtimes.deno, 'run', ...ALLOWED] } as const;

describeWithPostgres('the client in other runtimes than Node', () => {
  let running: RunningService;
  let env: Record<string, string>;
  beforeAll(async () => {
    running = await startRunningService();
    env = { NFSE_URL: running.service.url, NFSE_KEY: running.keys.test };
  });
  afterAll(async () => await running?.close());

  const withPrograms = async (
    runtime: keyof typeof COMMANDS,
    play: (programs: ExamplePrograms) => Promise<void>,
  ): Promise<void> => {
    const programs = await installExamples(env, COMMANDS[runtime]);
    try {
      await play(programs);
    } finally {
      await programs.close();
    }
  };

  for (const runtime of ['bun', 'deno'] as const)
    itWith(
      runtime,
      `${runtime} issues, waits, downloads, tells a refusal and cancels, with the built client and with its sources`,
      () =>
        withPrograms(runtime, async (programs) => {
          await programs.write('program.ts', PROGRAM);
          const places = {
            built: [join(programs.folder, 'node_modules/nfse-issuance-service/dist/src/client'), 'js'],
            sources: [join(ROOT, 'src/client'), 'ts'],
          } as const;
          const runs = Object.entries(places).map(async ([what, [folder, ending]]) => {
            const modules = ['client', 'errors'].map((name) => pathToFileURL(join(folder, `${name}.${ending}`)).href);
            const { out, complaint } = await programs.run('program.ts', ...modules, `${runtime}-${what}`);
            expect([what, complaint, out]).toEqual([what, '', `${JSON.stringify(ALL_WELL)}\n`]);
          });
          await Promise.all(runs);
        }),
    );

  itWith('bun', 'bun runs the examples that are no server', () =>
    withPrograms('bun', async (programs) => {
      const ended = async (...words: [string, ...string[]]) => {
        const { code, out, complaint } = await programs.run(...words);
        return [code, complaint === '' ? out : complaint];
      };
      const issued = [0, expect.stringMatching(/^emitida.*: \d{50}\n$/)];
      const alone = [ended('emitir-e-esperar.ts', 'bun-1', '350000'), ended('exportacao.ts', 'bun-2')];
      const csv = join(programs.folder, 'examples/vendas.csv');
      const night = ended('lote-noturno.ts', csv, 'livro.jsonl');
      expect(await Promise.all(alone)).toEqual([issued, issued]);
      expect(await ended('cancelar.ts', 'bun-1')).toEqual([0, 'cancelada\n']);
      expect(await night).toEqual([0, expect.stringContaining('lote-2001-1: emitida\n')]);
      // Of Brasília, three hours behind.
      const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7);
      const downloaded = expect.stringMatching(new RegExp(`^[1-9]\\d* arquivos novos em notas/${month}\\n$`));
      expect(await ended('baixar-mes.ts', month, 'livro.jsonl', 'notas')).toEqual([0, downloaded]);
    }),
  );
});
