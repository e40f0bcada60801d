import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { accessKey, eventAround, noteAround } from '../../support/fixture/sefin.js';
import { type ClientHarness, caller, inAMinute, openClientHarness } from '../../support/harness/authorizer-client.js';
import type { Answer } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
let documents: readonly string[];
beforeAll(async () => {
  harness = await openClientHarness();
  documents = [noteAround(harness.dps.bytes), eventAround(harness.cancellation.bytes)].map(String);
});
afterAll(() => harness.close());

const name = fc.constantFrom(
  'NFSe',
  'infNFSe',
  'DPS',
  'infDPS',
  'Signature',
  'evento',
  'x',
  'p:y',
  '__proto__',
  'Reference',
);
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '<?p i?>',
    '<?',
    '<!-- c -->',
    '<!--',
    '<![CDATA[x]]>',
    ']]>',
    '&amp;',
    '&x;',
    '&#1;',
    '<!DOCTYPE x>',
    '\0',
  ),
);

/** Well-formed in about half of the cases. */
const { xml: anyXml } = fc.letrec<{ xml: string }>((tie) => ({
  xml: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    piece,
    fc
      .tuple(name, name, fc.array(tie('xml'), { maxLength: 4 }))
      .map(
        ([tag, other, inner]) => `<${tag} Id="1" xmlns:p="u:p">${inner.join('')}</${inner.length === 3 ? other : tag}>`,
      ),
  ),
}));

/** A real document with bytes inserted, removed or overwritten at a random place. */
const damagedXml = fc
  .record({
    which: fc.nat(1),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(40),
    put: fc.oneof(piece, anyXml),
  })
  .map(({ which, at, cut, put }) => {
    const xml = documents[which] ?? '';
    const begin = Math.floor(at * xml.length);
    return xml.slice(0, begin) + put + xml.slice(begin + cut);
  });

const packed = fc.oneof(
  fc
    .oneof(damagedXml, anyXml)
    .chain((xml) =>
      fc.constantFrom(
        gzipBase64(Buffer.from(xml)),
        Buffer.from(gzipBase64(Buffer.from(xml))).toString('base64'),
        Buffer.from(xml).toString('base64'),
        gzipSync(xml).subarray(0, -5).toString('base64'),
      ),
    ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.string({ maxLength: 30 }),
);

const documented = packed.map((document) => ({
  chaveAcesso: accessKey,
  nfseXmlGZipB64: document,
  eventoXmlGZipB64: document,
  eventos: [{ tipoEvento: 101101, arquivoXml: document }],
}));

const body: fc.Arbitrary<Buffer> = fc.oneof(
  { arbitrary: documented.map((one) => Buffer.from(JSON.stringify(one))), weight: 5 },
  fc.json({ maxDepth: 6 }).map((text) => Buffer.from(text)),
  fc
    .record({ erros: fc.array(fc.record({ Codigo: fc.string(), Descricao: fc.anything() }, { requiredKeys: [] })) })
    .map((one) =>
      Buffer.from(JSON.stringify(one, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))),
    ),
  fc.tuple(fc.json(), fc.nat(200)).map(([text, at]) => Buffer.from(text.slice(0, at))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

const answer = fc.record({
  status: fc.constantFrom(200, 201, 204, 299, 302, 400, 403, 404, 422, 429, 500, 503),
  type: fc.constantFrom('application/json', 'text/html', 'application/problem+json', ''),
  encoding: fc.constantFrom('', '', '', 'gzip', 'br'),
  compress: fc.boolean(),
  body,
});

const answering =
  ({
    status,
    type,
    encoding,
    compress,
    body: bytes,
  }: {
    status: number;
    type: string;
    encoding: string;
    compress: boolean;
    body: Buffer;
  }): Answer =>
  (_received, response) => {
    response.writeHead(status, { 'content-type': type, ...(encoding === '' ? {} : { 'content-encoding': encoding }) });
    response.end(compress ? gzipSync(bytes) : bytes);
  };

const SENT = ['done', 'unknown', 'rejected', 'not_sent'];
const FOUND = ['found', 'absent', 'inconclusive'];

describe('any answer', () => {
  it('leads to an outcome of every call, and is never our document when it is not', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async (one) => {
        harness.server.answer(answering(one));
        const sent = await harness.client.sendDps(caller, harness.dps.bytes, inAMinute);
        const canceled = await harness.client.sendCancellation(
          caller,
          accessKey,
          harness.cancellation.bytes,
          inAMinute,
        );
        const byDps = await harness.client.findByDps(caller, harness.dps.id);
        const byKey = await harness.client.findByAccessKey(caller, accessKey);
        const event = await harness.client.findCancellation(caller, accessKey);
        expect(SENT).toContain(sent.kind);
        expect(SENT).toContain(canceled.kind);
        for (const { kind } of [byDps, byKey, event]) expect(FOUND).toContain(kind);
        if (sent.kind === 'done') expect(sent.result.digest).toBe(harness.dps.digest);
        if (canceled.kind === 'done') expect(canceled.result.digest).toBe(harness.cancellation.digest);
      }),
      { numRuns: 150 },
    );
  });
});
