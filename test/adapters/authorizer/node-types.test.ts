import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { type ReadingJob, readInline } from '../../../src/adapters/authorizer/reading.js';
import { XML_BOUNDS } from '../../../src/xml/bounds.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { accessKey, eventAround, issued, noteAround } from '../../support/fixture/sefin.js';
import { type ClientHarness, caller, inAMinute, openClientHarness } from '../../support/harness/authorizer-client.js';
import { json } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
let notes: { note: Buffer; event: Buffer };
beforeAll(async () => {
  harness = await openClientHarness();
  notes = { note: noteAround(harness.dps.bytes), event: eventAround(harness.cancellation.bytes) };
});
afterAll(() => harness.close());

type Place = readonly [name: string, put: (xml: string, what: string) => string];

/** Where a node may stand in a note or an event; `infNFSe` and `infEvento` are what the authorizer signs. */
const places: readonly Place[] = [
  ['before the root', (xml, what) => xml.replace(/(<\?xml[^>]*\?>)/, `$1${what}`)],
  ['in the root', (xml, what) => xml.replace(/(<(?:NFSe|evento)\b[^>]*>)/, `$1${what}`)],
  ['in what is signed', (xml, what) => xml.replace(/(<inf(?:NFSe|Evento)\b[^>]*>)/, `$1${what}`)],
  ['in our document', (xml, what) => xml.replace(/(<inf(?:DPS|PedReg)\b[^>]*>)/, `$1${what}`)],
  ['in a text', (xml, what) => xml.replace(/(<dhProc>)/, `$1${what}`)],
  ['in the signature', (xml, what) => xml.replace(/(<SignedInfo>)(?!.*<SignedInfo>)/, `$1${what}`)],
  ['in the certificate', (xml, what) => xml.replace(/(<X509Certificate>)(?!.*<X509Certificate>)/, `$1${what}`)],
  ['behind the root', (xml, what) => `${xml}${what}`],
];

const nodes: readonly (readonly [name: string, xml: string])[] = [
  ['a processing instruction', '<?alvo dados?>'],
  ['an instruction without data', '<?alvo?>'],
  ['a comment', '<!-- nota -->'],
  ['a CDATA section', '<![CDATA[ <x>&amp; ]]>'],
  ['an entity of nobody', '&ninguem;'],
  ['a character reference', '&#65;'],
  ['a reference to no character', '&#0;'],
  ['a document type', '<!DOCTYPE NFSe [<!ENTITY e "x">]>'],
  ['white space', ' \n\t '],
  ['a text', 'texto'],
  ['an element of no name space', '<x xmlns=""/>'],
  ['an element of another name space', '<p:x xmlns:p="urn:p"><p:y/></p:x>'],
  ['an element of an unknown prefix', '<p:x/>'],
  [
    'attributes of every kind',
    '<x a="1" xml:lang="pt" xml:id="i" xml:space="preserve" xml:base="u:b" xmlns:q="urn:q" q:a="2"/>',
  ],
  ['an attribute twice', '<x a="1" a="2"/>'],
  ['a name space that is no address', '<x xmlns:q="::"/>'],
  ['the name of the prototype', '<__proto__>1</__proto__><constructor/>'],
  ['an unclosed element', '<x>'],
  ['a zero byte', '\0'],
  ['a surrogate', '\uD800'],
  ['many name spaces', `<x ${Array.from({ length: 40_000 }, (_, n) => `xmlns:n${n}="u:${n}"`).join(' ')}/>`],
  ['many attributes', `<x ${Array.from({ length: 40_000 }, (_, n) => `a${n}="1"`).join(' ')}/>`],
  ['many elements', '<x/>'.repeat(XML_BOUNDS.elements + 1)],
  ['many comments', '<!--x-->'.repeat(XML_BOUNDS.sections + 1)],
  ['great depth', '<x>'.repeat(10_000) + '</x>'.repeat(10_000)],
  ['a long text', 'a'.repeat(XML_BOUNDS.text + 1)],
];

const put = (xml: Buffer, place: Place[1], what: string): string =>
  gzipBase64(Buffer.from(place(xml.toString(), what)));

const answered = (status: number, body: unknown): Exchange => ({
  kind: 'answered',
  status,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});

/** The result of each kind of call whose answer holds this note and this event. */
const outcomes = async (packedNote: string, packedEvent: string): Promise<readonly string[]> => {
  const event = { eventoXmlGZipB64: packedEvent, eventos: [{ tipoEvento: 101101, arquivoXml: packedEvent }] };
  const found = { chaveAcesso: accessKey, nfseXmlGZipB64: packedNote };
  const jobs: ReadingJob[] = [
    { name: 'sentDps', expected: harness.dps, exchange: answered(201, found) },
    { name: 'note', expected: { accessKey, absentCodes: [] }, exchange: answered(200, found) },
    { name: 'sentCancellation', expected: harness.cancellation, exchange: answered(201, event) },
    { name: 'event', expected: { accessKey, eventType: '101101' }, exchange: answered(200, event) },
  ];
  return (await Promise.all(jobs.map((job) => readInline(job)))).map(({ kind }) => kind);
};

describe.each(nodes)('%s', (_name, what) => {
  it.each(places)('%s of an answer leads to an outcome of every call', async (_place, place) => {
    const [sent, found, canceled, event] = await outcomes(put(notes.note, place, what), put(notes.event, place, what));
    for (const kind of [sent, canceled]) expect(['done', 'unknown']).toContain(kind);
    for (const kind of [found, event]) expect(['found', 'inconclusive']).toContain(kind);
  });

  it('in what is signed leads to an outcome of the client', async () => {
    const [, , [, place] = ['', (xml: string) => xml]] = places;
    const nfseXmlGZipB64 = put(notes.note, place, what);
    harness.server.answer(json(201, { ...issued(notes.note), nfseXmlGZipB64 }));
    expect(['done', 'unknown']).toContain((await harness.client.sendDps(caller, harness.dps.bytes, inAMinute)).kind);
    harness.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64 }));
    expect(['found', 'inconclusive']).toContain((await harness.client.findByDps(caller, harness.dps.id)).kind);
  });
});

describe('what changes nothing that is signed', () => {
  it.each([
    ['an instruction before the root', 0, '<?alvo dados?>'],
    ['a comment before the root', 0, '<!-- nota -->'],
    ['an instruction in the root', 1, '<?alvo dados?>'],
  ])('leaves the note as it was: %s', async (_name, place, what) => {
    const packed = put(notes.note, (places[place] ?? places[0])?.[1] ?? ((xml) => xml), what);
    harness.server.answer(json(201, { ...issued(notes.note), nfseXmlGZipB64: packed }));
    expect(await harness.client.sendDps(caller, harness.dps.bytes, inAMinute)).toMatchObject({ kind: 'done' });
  });

  it('and an instruction in what is signed is a signature that does not hold, of a note that is ours', async () => {
    const packed = put(notes.note, (xml) => (places[2]?.[1] ?? ((one: string) => one))(xml, '<?alvo dados?>'), '');
    harness.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: packed }));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({
      kind: 'found',
      found: { digest: harness.dps.digest, signatureFault: 'digest' },
    });
  });
});

describe('bytes to send that we never signed', () => {
  it.each([
    ['none', Buffer.alloc(0)],
    ['no document', gzipSync('x')],
    ['without a signature', Buffer.from('<DPS><infDPS Id="DPS1"/></DPS>')],
  ])('never leave: %s', async (_name, bytes) => {
    const before = harness.server.received.length;
    const notSent = { kind: 'not_sent', reason: 'document_unreadable' };
    const sends = [
      await harness.client.sendDps(caller, bytes, inAMinute),
      await harness.client.sendCancellation(caller, accessKey, bytes, inAMinute),
    ];
    expect(sends).toMatchObject([notSent, notSent]);
    for (const send of sends) expect(send).not.toHaveProperty('certificateRefused');
    expect(harness.server.received).toHaveLength(before);
  });
});
