import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDistribution, readDistribution, readSingle } from '../../../src/adapters/authorizer/distribution.js';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import {
  CALL_LIMIT_MS,
  type ClientHarness,
  caller,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { json } from '../../support/harness/authorizer-server.js';

const KEY = '33045572212345678000195000000000000126119418294735';

const answered = (status: number, body: object | string, contentType = 'application/json'): Exchange => ({
  kind: 'answered',
  status,
  contentType,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8'),
});

const batch = (...documents: readonly object[]) =>
  answered(200, { StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS', LoteDFe: documents, Alertas: null, Erros: null });

const note = (NSU: unknown) => ({ NSU, ChaveAcesso: KEY, TipoDocumento: 'NFSE', TipoEvento: null, ArquivoXml: 'H4sI' });

const event = (NSU: unknown, TipoEvento: unknown) => ({ ...note(NSU), TipoDocumento: 'EVENTO', TipoEvento });

const evento = Buffer.from(
  `<evento><pedRegEvento><infPedReg><chNFSe>${KEY}</chNFSe></infPedReg></pedRegEvento></evento>`,
);

const end = { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO', LoteDFe: [], Erros: [{ Codigo: 'E2220' }] };

describe('an answer of the distribution', () => {
  it.each([
    ['notes', batch(note(8), note(11)), { last: 11, canceled: [] }],
    [
      'a note after all others of the country',
      batch(note(1_000_000_000_007)),
      { last: 1_000_000_000_007, canceled: [] },
    ],
    ['a cancellation', batch(note(8), event(9, 'CANCELAMENTO')), { last: 9, canceled: [KEY] }],
    ['a substitution', batch(event(9, 'CANCELAMENTO_POR_SUBSTITUICAO')), { last: 9, canceled: [KEY] }],
    ['an event of a type that is not listed', batch(event(9, 'CANCELAMENTO_NOVO')), { last: 9, canceled: [KEY] }],
    ['an event without a type', batch(event(9, null)), { last: 9, canceled: [KEY] }],
    ['an event that cancels nothing', batch(event(9, 'CONFIRMACAO_TOMADOR')), { last: 9, canceled: [] }],
    [
      'an event with a key that is none',
      batch({ ...event(9, 'CANCELAMENTO'), ChaveAcesso: 'x' }),
      { last: 9, canceled: [] },
    ],
    [
      'an event whose key only its document tells',
      batch({ ...event(9, 'CANCELAMENTO'), ChaveAcesso: null, ArquivoXml: gzipBase64(evento) }),
      { last: 9, canceled: [KEY] },
    ],
    [
      'an event without a key, whose document is none or too long',
      batch(
        { ...event(8, 'CANCELAMENTO'), ChaveAcesso: null },
        { ...event(9, 'CANCELAMENTO'), ChaveAcesso: null, ArquivoXml: null },
        {
          ...event(10, 'CANCELAMENTO'),
          ChaveAcesso: null,
          ArquivoXml: gzipBase64(Buffer.concat([Buffer.alloc(32 * 1024, 32), evento])),
        },
      ),
      { last: 10, canceled: [] },
    ],
    [
      'the documents beside one without a number, and the key of that one',
      batch(note(8), event(null, 'CANCELAMENTO'), note(9), { NSU: null, ChaveAcesso: null, TipoDocumento: 'NENHUM' }),
      { last: 9, canceled: [KEY] },
    ],
    [
      'other casing',
      answered(200, { lotedfe: [{ nsu: 9, chaveacesso: KEY, tipodocumento: 'EVENTO' }] }),
      { last: 9, canceled: [KEY] },
    ],
  ])('tells %s', (_what, answer, told) => {
    expect(readDistribution(7, answer)).toEqual({ kind: 'documents', ...told });
  });

  it.each([
    ['404 with its status', answered(404, end)],
    ['404 with its code alone', answered(404, { Erros: [{ Codigo: 'E2220', Descricao: 'x' }] })],
    ['200 with its status', answered(200, end)],
  ])('is the end of the queue: %s', (_what, answer) => {
    expect(readDistribution(7, answer)).toEqual({ kind: 'end' });
  });

  it('is no end of a queue whose batch was too long', () => {
    expect(readSingle(7, answered(404, end))).toEqual({ kind: 'inconclusive', reason: 'no_progress' });
    expect(readSingle(7, batch(note(8)))).toEqual({ kind: 'documents', last: 8, canceled: [] });
  });

  it.each([
    ['an HTML 404', answered(404, '<html>', 'text/html'), 'http_404'],
    ['a JSON 404 of something else', answered(404, { message: 'Resource not found' }), 'http_404'],
    ['another company’s CNPJ', answered(400, { Erros: [{ Codigo: 'E2243' }] }), 'http_400'],
    ['too many calls', answered(429, '<html>', 'text/html'), 'http_429'],
    ['a 200 in HTML', answered(200, '<html>', 'text/html'), 'no_json'],
    ['a 200 without documents', answered(200, { ok: true }), 'not_the_api'],
    ['a number in words', batch(note('9')), 'unreadable'],
    ['a number that is none of ours any more', batch(note(2 ** 60)), 'unreadable'],
    ['a document that is none', answered(200, { LoteDFe: [3] }), 'unreadable'],
    ['documents without a number', batch(note(null), event(undefined, 'CANCELAMENTO')), 'no_progress'],
    ['documents that were read before', batch(note(6), note(7)), 'no_progress'],
    ['a number that no queue can have reached', batch(note(8), note(Number.MAX_SAFE_INTEGER)), 'nsu_too_far'],
    [
      'more items than could be unpacked in the event loop',
      batch(...Array.from({ length: 201 }, (_, index) => event(8 + index, null))),
      'too_many_items',
    ],
    ['a number just beyond the bound', batch(note(1_000_000_000_008)), 'nsu_too_far'],
    ['silence', { kind: 'broken', reason: 'timeout' } as Exchange, 'timeout'],
  ])('proves nothing: %s', (_what, answer, reason) => {
    expect(readDistribution(7, answer)).toEqual({ kind: 'inconclusive', reason });
  });
});

describe('the client of the distribution', () => {
  let harness: ClientHarness;
  beforeAll(async () => {
    harness = await openClientHarness();
  });
  afterAll(() => harness.close());

  it('asks for a single document when a batch has too many', async () => {
    const distribution = createDistribution({
      address: harness.server.address,
      trustRootsPem: [harness.authority.certificatePem],
      timeoutMs: CALL_LIMIT_MS,
      certificateOf: async () => harness.company,
      now: () => harness.company.notBefore,
    });
    const flood = Array.from({ length: 201 }, (_, index) => note(1 + index));
    harness.server.answer((received, response) => {
      const LoteDFe = received.path.endsWith('lote=true') ? flood : [event(1, 'CANCELAMENTO')];
      json(200, { LoteDFe })(received, response);
    });
    expect(await distribution.after(caller, 0)).toEqual({ kind: 'documents', last: 1, canceled: [KEY] });
    expect(harness.server.received.map(({ path }) => path)).toEqual([
      expect.stringMatching('lote=true'),
      expect.stringMatching('lote=false'),
    ]);
    distribution.close();
    harness.server.received.length = 0;
  });

  it('asks nothing with an expired certificate, and says so like the client of Sefin', async () => {
    const distribution = createDistribution({
      address: harness.server.address,
      trustRootsPem: [harness.authority.certificatePem],
      timeoutMs: CALL_LIMIT_MS,
      certificateOf: async () => harness.company,
      now: () => harness.company.notAfter,
    });
    expect(await distribution.after(caller, 0)).toEqual({ kind: 'inconclusive', reason: 'certificate_expired' });
    expect(harness.server.received).toEqual([]);
    distribution.close();
  });
});
