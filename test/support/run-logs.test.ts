import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { privateLines } from './run-logs.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nfse-run-logs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it.each([
  '{"msg":"request","customer":"CLIENTE LTDA"}',
  '{"msg":"x","document":"11144477735"}',
  '{"msg":"x","document":"111.444.777-35"}',
  '{"msg":"x","document":"11222333000181"}',
  '{"msg":"x","key":"svc_sk_test_0123456789abcdef"}',
  '{"msg":"x","url":"/v1/nfse/1/pdf?t=eyJhbGciOi"}',
  '{"msg":"x","text":"Desenvolvimento de sistema"}',
  '-----BEGIN PRIVATE KEY-----',
])('the scan of a run’s logs finds %s', async (line) => {
  await writeFile(join(folder, 'one.log'), `{"msg":"ready"}\n${line}\n{"msg":"request"}`);
  const { lines, found } = await privateLines(folder);
  expect(lines).toBe(3);
  expect(found).toHaveLength(1);
});

it('the scan of a run’s logs accepts what support needs', async () => {
  const line = `{"level":30,"time":"2026-11-21T12:00:00.000Z","request_id":"req_0123456789abcdef","stream":"nfseLive-12345678000195_6ded9958-e7b7-881d-aab1-de9b9fca37df","access_key":"33045572212345678000195000000000000014826082012345670"}`;
  await writeFile(join(folder, 'one.log'), line);
  expect(await privateLines(folder)).toEqual({ lines: 1, found: [] });
});
