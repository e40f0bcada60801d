import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { type Reader, type ReadingJob, readInline } from '../../../src/adapters/authorizer/reading.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { openReadingThreads } from '../../../src/runtime/engines/authorizers.js';
import { createRunner } from '../../../src/runtime/engines/runner.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import {
  accessKey,
  certificateFor,
  eventAround,
  issued,
  noteAround,
  type SignedSample,
  signedCancellation,
  signedDps,
} from '../../support/fixture/sefin.js';

const now = new Date().toISOString();
let dps: SignedSample;
let request: SignedSample;
beforeAll(async () => {
  const certificate = certificateFor(issueCertificate({ subjectName: 'Autoridade', validDays: 1, now }), now);
  dps = await signedDps(certificate);
  request = await signedCancellation(certificate);
});

let runner = createRunner(() => undefined);
afterEach(() => runner.stop());

const open = (options?: Parameters<typeof openReadingThreads>[1]): Reader => {
  runner = createRunner(() => undefined);
  return openReadingThreads(runner, options);
};

const answered = (status: number, body: unknown): Exchange => ({
  kind: 'answered',
  status,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});

const sentDps = (): ReadingJob<'sentDps'> => ({
  name: 'sentDps',
  expected: { id: dps.id, digest: dps.digest },
  exchange: answered(201, issued(noteAround(dps.bytes))),
});

/** The limit of a job includes the start of its thread, which a busy machine delays. */
const HANGS_FOR_MS = 3_000;

/** Threads that treat their job as the name of the file says. */
const threadFile = (fault: string): URL => new URL(`./support/reading-${fault}.mjs`, import.meta.url);

describe('the threads that read answers', () => {
  it('tell of each kind what is told inline, to the byte', async () => {
    const read = open();
    const event = { eventos: [{ tipoEvento: 101101, arquivoXml: gzipBase64(eventAround(request.bytes)) }] };
    const found = { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(noteAround(dps.bytes)) };
    const jobs: ReadingJob[] = [
      sentDps(),
      { name: 'sentDps', expected: { id: dps.id, digest: 'another' }, exchange: sentDps().exchange },
      { name: 'sentCancellation', expected: { ...request }, exchange: answered(201, event) },
      { name: 'event', expected: { accessKey, eventType: '101101' }, exchange: answered(200, event) },
      { name: 'note', expected: { accessKey, absentCodes: [] }, exchange: answered(200, found) },
      {
        name: 'accessKeyOfDps',
        expected: { dpsId: dps.id },
        exchange: answered(200, { ...found, padding: 'a'.repeat(9_000) }),
      },
      { name: 'accessKeyOfDps', expected: { dpsId: dps.id }, exchange: answered(404, { erro: { codigo: 'E2404' } }) },
      { name: 'sentDps', expected: { ...dps }, exchange: { kind: 'broken', reason: 'ECONNRESET' } },
    ];
    const results = await Promise.all(jobs.map((job) => read(job)));
    expect(results).toEqual(await Promise.all(jobs.map((job) => readInline(job))));
    expect(results.map(({ kind }) => kind)).toEqual([
      'done',
      'unknown',
      'done',
      'found',
      'found',
      'found',
      'absent',
      'unknown',
    ]);
    const [first] = results;
    expect(first?.kind === 'done' && Buffer.isBuffer((first.result as { xml: unknown }).xml)).toBe(true);
  });

  it.each(['dies', 'hangs'])(
    'are given a job once more when a thread %s over it, and then not again',
    async (fault) => {
      const limits = fault === 'hangs' ? { timeoutMs: HANGS_FOR_MS, startMs: 0 } : {};
      const read = open({ file: threadFile(fault), ...limits });
      const tries = new Int32Array(new SharedArrayBuffer(4));
      const job = {
        ...sentDps(),
        expected: { id: dps.id, digest: dps.digest, tries },
      } as unknown as ReadingJob<'sentDps'>;
      await expect(read(job)).rejects.toThrow();
      expect(Atomics.load(tries, 0)).toBe(2);
    },
  );

  it('tell that an answer was not read when the reading throws, without what was thrown', async () => {
    const read = open();
    const job = { ...sentDps(), name: 'nobody knows this kind' } as unknown as ReadingJob;
    await expect(read(job)).rejects.toThrow('a thread could not read the answer');
    expect(await read(sentDps())).toMatchObject({ kind: 'done' });
  });

  it('end with the process', async () => {
    const read = open();
    await read(sentDps());
    await runner.stop();
    await expect(read(sentDps())).rejects.toThrow('closed');
  });

  it('are not asked for what is short and holds no document', async () => {
    const read = open({ file: threadFile('dies') });
    const exchange = answered(400, { erros: [{ Codigo: 'E0316', Descricao: 'NBS' }] });
    expect(await read({ name: 'sentDps', expected: { ...dps }, exchange })).toMatchObject({ kind: 'rejected' });
  });
});
