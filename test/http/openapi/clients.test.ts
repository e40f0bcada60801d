import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { listen, type RunningServer } from '../../../src/http/server.js';
import { attempted, authorized, BASE_URL, createHarness, PDF } from '../../support/harness/http.js';
import { describeWith } from '../../support/needs.js';
import { ENDS_WITHIN_MS } from '../../support/patient.js';
import { API_CLIENTS, CLIENTS, copyApiClients } from '../../tools/api-clients.js';

type Client = {
  issue(baseUrl: string, key: string, settle: (id: string) => Promise<void>): Promise<Record<string, unknown>>;
};

const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, [program, ...args], { cwd: API_CLIENTS, encoding: 'utf8', timeout: ENDS_WITHIN_MS });

describeWith('apiClients', 'the OpenAPI document', () => {
  const document = openApiDocument(BASE_URL);
  const harness = createHarness();
  let server: RunningServer;
  beforeAll(async () => {
    copyApiClients();
    writeFileSync(join(API_CLIENTS, 'openapi.json'), JSON.stringify(document));
    run('generate.mjs');
    server = await listen(harness.app, { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server?.close(0));

  it('has no finding of Spectral or Redocly', () => {
    expect(run('lint.mjs')).toBe('');
  });

  it('would be found out with a fault', () => {
    writeFileSync(join(API_CLIENTS, 'openapi.json'), JSON.stringify({ ...document, tags: [] }));
    const findings = run('lint.mjs');
    writeFileSync(join(API_CLIENTS, 'openapi.json'), JSON.stringify(document));
    expect(findings).toMatch(/^spectral operation-tag-defined/m);
  });

  it('makes clients that compile', () => {
    expect(run('node_modules/typescript/bin/tsc', '-p', '.')).toBe('');
  });

  it.each(CLIENTS)('makes a client that issues an invoice: %s', async (name) => {
    const outfile = join(API_CLIENTS, 'generated', `${name}.mjs`);
    const entryPoints = [join(API_CLIENTS, `${name}.ts`)];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' });
    const { issue } = (await import(pathToFileURL(outfile).href)) as Client;
    harness.pass(61);
    const { now } = harness.state;
    const settle = (id: string) => harness.record(id, [attempted(now), authorized(now)]);
    expect(await issue(server.url, harness.keys.test, settle)).toEqual({
      status: 'issued',
      accessKey: expect.stringMatching(/^[0-9]{50}$/),
      customer: 'CLIENTE REGISTRADO SA',
      pdfBytes: PDF.byteLength,
      found: [true],
      activity: 'activity',
      refusal: 'invalid_request',
    });
  });
});
