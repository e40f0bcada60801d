import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type ExamplePrograms, installExamples } from './example-programs.js';
import { openScriptedApi, type ScriptedAnswer, type ScriptedApi } from './scripted-api.js';

export const ID = 'nfse_0190a000-0000-7000-8000-000000000001';
export const ACCESS_KEY = '3'.repeat(50);
/** The first line of a CSV for lote-noturno.ts. */
export const HEADER = 'pedido;tentativa;documento;cliente;centavos;descricao';

const AT_ONCE = { 'content-type': 'application/json', 'retry-after': '0' };

export const answered = (status: number, body: object): ScriptedAnswer => ({
  status,
  body: JSON.stringify(body),
  headers: AT_ONCE,
});

/** What the orders of the shop and the first rows of the batches send. */
const SENT = { amount_in_cents: 1000, description: 'A' };
export const invoice = (status: string) => ({
  ...SENT,
  id: ID,
  object: 'nfse',
  status,
  ...(status === 'issued' || status === 'canceled' ? { access_key: ACCESS_KEY } : {}),
});
export const listed = (...data: readonly object[]) => answered(200, { object: 'list', data, has_more: false });

export const accepted = answered(202, invoice('queued'));
export const issued = answered(200, invoice('issued'));

export const refused = (status: number, code: string) =>
  answered(status, { error: { type: 'x', code, message: 'Recusado.', retryable: false, request_id: 'req_1' } });

/** The examples, installed for the tests of a file, and APIs that give scripted answers to them. Registers the hooks. */
export const scriptedExamples = () => {
  let programs: ExamplePrograms;
  const open = new Set<ScriptedApi>();
  beforeAll(async () => {
    programs = await installExamples({ NFSE_KEY: 'svc_sk_test_any', PORT: '0' });
  });
  afterEach(async () => {
    for (const api of open) await api.close();
    open.clear();
  });
  afterAll(async () => await programs?.close());
  return {
    get programs() {
      return programs;
    },
    /** The programs, and an API that gives these answers to them. */
    facing: async (answers: readonly ScriptedAnswer[], more: Readonly<Record<string, string>> = {}) => {
      const api = await openScriptedApi(answers);
      open.add(api);
      const methods = () => api.asked.map(({ method }) => method);
      return { api, methods, ...programs.within({ NFSE_URL: api.url, ...more }) };
    },
    /** A file beside the programs. */
    written: (name: string, lines: readonly string[]): string => {
      const path = join(programs.folder, name);
      writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
      return path;
    },
  };
};
