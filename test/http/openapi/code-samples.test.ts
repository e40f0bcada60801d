import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeSample, codeSamples } from '../../../src/http/openapi/code-samples.js';
import { EXAMPLE_ID } from '../../../src/http/openapi/invoice-examples.js';
import { operations } from '../../../src/http/openapi/operations.js';
import { listen, type RunningServer } from '../../../src/http/server.js';
import { createHarness, type Harness, issuedInvoice, PDF } from '../../support/harness/http.js';
import { openLocalServer } from '../../support/harness/local-server.js';
import { describeWith, type NeedName } from '../../support/needs.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const LABELS = ['curl', 'JavaScript', 'PHP', 'C#', 'Python', 'Java'];

const samplesOf = (operationId: string, baseUrl: string): readonly CodeSample[] => {
  const operation = operations.find((each) => each.operationId === operationId);
  return operation === undefined ? [] : codeSamples(operation, baseUrl);
};

describe('the code samples', () => {
  it.each(operations)(
    'of $operationId are there in six languages, each with the key from the environment',
    ({ operationId }) => {
      const samples = samplesOf(operationId, 'https://nfse.example');
      expect(samples.map(({ label }) => label)).toEqual(LABELS);
      for (const { source } of samples) {
        expect(source).toContain('NFSE_KEY');
        expect(source).toContain('https://nfse.example/v1/');
        expect(source).not.toContain('svc_sk_');
      }
    },
  );

  it('of the issue route all send an Idempotency-Key', () => {
    for (const { source } of samplesOf('issue_nfse', '')) expect(source).toMatch(/Idempotency-Key\W+pedido-1042-1/);
  });

  it('of the issue route all name the line of the activity', () => {
    for (const { source } of samplesOf('issue_nfse', ''))
      expect(source).toMatch(/"cnae": "6201501",\s+"service_code": "010101"/);
  });
});

/** Program, arguments and the name of the file that holds the sample. */
const runners: readonly [NeedName, string, string, readonly string[]][] = [
  ['curl', 'curl', 'sample.sh', ['bash', 'sample.sh']],
  ['node', 'JavaScript', 'sample.mjs', [process.execPath, 'sample.mjs']],
  ['python', 'Python', 'sample.py', ['python3', 'sample.py']],
  ['php', 'PHP', 'sample.php', ['php', 'sample.php']],
  ['java', 'Java', 'Exemplo.java', ['java', '-Dfile.encoding=UTF-8', 'Exemplo.java']],
];

describe.each(runners)('the samples for %s', (need, label, file, [program = '', ...args]) => {
  describeWith(need, 'against the service', () => {
    let harness: Harness;
    let server: RunningServer;
    const folder = temporaryFolder();
    beforeAll(async () => {
      harness = createHarness();
      server = await listen(harness.app, { host: '127.0.0.1', port: 0 });
    });
    afterAll(() => server?.close(0));

    const run = async (operationId: string, id = EXAMPLE_ID, url = server.url) => {
      const sample = samplesOf(operationId, url).find((each) => each.label === label);
      await writeFile(join(folder, file), (sample?.source ?? '').replace(EXAMPLE_ID, id));
      const env = { PATH: process.env.PATH, NFSE_KEY: harness.keys.test };
      return await promisify(execFile)(program, args, { cwd: folder, env }).catch(
        (error) => error as { stdout: string; stderr: string },
      );
    };

    it('issue an invoice, find it, download its PDF and cancel it', async () => {
      const id = await issuedInvoice(harness);
      harness.pass(61);
      expect((await run('issue_nfse')).stdout).toContain('queued');
      expect((await run('find_nfse')).stdout).toContain('pedido-1042');
      await run('download_pdf', id);
      expect((await readFile(join(folder, 'nota.pdf'))).equals(PDF)).toBe(true);
      expect((await run('cancel_nfse', id)).stdout).toContain('service_not_provided');
    });

    it('fail when a document is refused, and save no document', async () => {
      await rm(join(folder, 'nota.xml'), { force: true });
      expect(await run('download_xml')).toMatchObject({
        code: expect.any(Number),
        stderr: expect.stringMatching(/404|not_found/),
      });
      expect(await readdir(folder)).not.toContain('nota.xml');
    });

    it('bring the key to no other server, whatever the answer says', async () => {
      const keys: (string | undefined)[] = [];
      const other = await openLocalServer(async (request, response) => {
        keys.push(request.headers.authorization);
        response.end('{}');
      });
      const away = await openLocalServer(async (_request, response) => {
        response.writeHead(302, { location: `${other.url.replace('127.0.0.1', 'localhost')}/` }).end('{}');
      });
      await run('get_nfse', EXAMPLE_ID, away.url);
      expect(keys.filter((key) => key !== undefined)).toEqual([]);
      await Promise.all([other.close(), away.close()]);
    });

    it('show a refusal', async () => {
      const { stdout, stderr } = await run('get_nfse');
      expect(`${stdout}${stderr}`).toContain('not_found');
    });
  });
});
