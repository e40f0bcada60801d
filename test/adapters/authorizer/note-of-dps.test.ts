import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNote } from '../../../src/adapters/authorizer/documents.js';
import { isNoteOfDps } from '../../../src/adapters/authorizer/reading.js';
import { noticesOf } from '../../../src/app/issuing/deps.js';
import { compareNote } from '../../../src/app/issuing/found-documents.js';
import { accessKeyCheckDigit } from '../../../src/domain/common/access-key.js';
import type { Instant } from '../../../src/domain/common/time.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { sample } from '../../support/fixture/samples.js';
import { accessKey, issued, noteAround } from '../../support/fixture/sefin.js';
import { type ClientHarness, caller, openClientHarness } from '../../support/harness/authorizer-client.js';
import { json } from '../../support/harness/authorizer-server.js';
import { itWith } from '../../support/needs.js';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await openClientHarness();
});
afterAll(() => harness.close());

const withCheckDigit = (first49: string): string => `${first49}${accessKeyCheckDigit(first49)}`;
const keyWith = (at: number, part: string): string =>
  withCheckDigit(accessKey.slice(0, at) + part + accessKey.slice(at + part.length, -1));

/** The stamp of the DPS in Brasília is 2026-09-15T10:30:00, and the note is made two minutes later. */
const EMITTED = '2026-09-15T13:30:00.000Z';
const FAR_OFF = '2199-01-01T00:00:00.000Z';

type Case = { key?: string; dhProc?: string; answer?: object; now?: Instant };

/** The results of a send and of a look-up whose answers hold our DPS in this note, signed as Sefin signs. */
const outcomes = async ({ key = accessKey, dhProc, answer = {}, now = EMITTED }: Case) => {
  const note = noteAround(harness.dps.bytes, '', (unsigned) => {
    const text = unsigned.replaceAll(accessKey, key);
    return dhProc === undefined ? text : text.replace(/<dhProc>[^<]*/, `<dhProc>${dhProc}`);
  });
  const body = { ...issued(note), chaveAcesso: key, ...answer };
  // The clock of the machine judges the certificate elsewhere.
  const certificate = { ...harness.company, notAfter: FAR_OFF };
  const client = harness.clientOf({ now: () => now, certificateOf: () => Promise.resolve(certificate) });
  harness.server.answer((call, response) => json(call.method === 'POST' ? 201 : 200, body)(call, response));
  const sent = await client.sendDps(caller, harness.dps.bytes, FAR_OFF);
  harness.server.answer((call, response) =>
    json(200, call.path.includes('/dps/') ? { chaveAcesso: key } : body)(call, response),
  );
  return { sent, found: await client.findByDps(caller, harness.dps.id) };
};

/** What issuing makes of a note that was found: its owner, and the notices to operators. */
const judged = (found: Awaited<ReturnType<typeof outcomes>>['found']) => {
  if (found.kind !== 'found') return found;
  const { id: dpsId, digest } = harness.dps;
  const owner = compareNote({ attempts: [{ dpsId, digest }] } as never, found.found);
  return [owner, ...noticesOf('nfseTest-x', found.found, owner).map(({ kind }) => kind)];
};

describe('a note with our DPS inside', () => {
  it.each([
    ['as Sefin makes it', {}],
    ['whose answer names no key', { answer: { chaveAcesso: undefined } }],
    ['whose answer names the key in another form', { answer: { chaveAcesso: `NFS${accessKey}` } }],
    ['whose answer has no time', { answer: { dataHoraProcessamento: undefined } }],
    ['made before the stamp by clocks that differ', { dhProc: '2026-09-14T10:31:00-03:00' }],
    ['made after the answer by clocks that differ', { dhProc: '2026-09-17T10:31:00-03:00' }],
    ['while our clock is a year behind', { now: '2025-09-15T13:30:00.000Z' }],
    ['while the time in the answer is wrong', { now: '2026-09-30T13:30:00.000Z', dhProc: '2026-09-30T10:31:00-03:00' }],
    ['made a month after its stamp', { now: '2026-10-15T13:30:00.000Z', dhProc: '2026-10-15T10:31:00-03:00' }],
  ] satisfies [string, Case][])('is ours: %s', async (_what, about) => {
    const { sent, found } = await outcomes(about);
    expect(sent).toMatchObject({ kind: 'done', result: { digest: harness.dps.digest } });
    expect(judged(found)).toEqual(['ours']);
  });

  it.each([
    ['of another municipality', { key: keyWith(0, '3550308') }],
    ['of a person', { key: keyWith(8, '1') }],
    ['of another company', { key: keyWith(9, '98765432000198') }],
    ['whose answer names the key of another note', { answer: { chaveAcesso: keyWith(23, '0000000009999') } }],
    ['made long before its stamp', { dhProc: '2001-01-01T00:00:00-03:00' }],
    ['made long after its answer', { dhProc: '2150-01-01T00:00:00-03:00' }],
  ] satisfies [string, Case][])(
    'answers no send, and found by a look-up it causes a notice: %s',
    async (_what, about) => {
      const { sent, found } = await outcomes(about);
      expect(sent).toMatchObject({ kind: 'unknown', reason: 'success_not_ours_or_unreadable' });
      expect(judged(found)).toEqual(['unknown', 'document_altered']);
    },
  );
});

describe('a note of the national system', () => {
  for (const name of [
    'nfse-07-producao-me-epp-cpf.xml',
    'nfse-08-restrita-ibscbs.xml',
    'nfse-09-emissor-web-v1.00.xml',
    'nfse-10-exportacao-construida.xml',
  ]) {
    itWith('samples', `is one that Sefin can have made of its DPS: ${name}`, () => {
      const note = readNote(gzipBase64(sample(name)));
      expect(note && isNoteOfDps(note, {}, { dpsId: note.dpsId, heardAt: note.authorizedAt })).toBe(true);
    });
  }
});
