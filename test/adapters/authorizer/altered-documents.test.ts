import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEvent, readNote } from '../../../src/adapters/authorizer/documents.js';
import { numberOfKey } from '../../../src/domain/common/access-key.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { sample } from '../../support/fixture/samples.js';
import { accessKey, eventAround, issued, noteAround } from '../../support/fixture/sefin.js';
import { type ClientHarness, caller, inAMinute, openClientHarness } from '../../support/harness/authorizer-client.js';
import { json } from '../../support/harness/authorizer-server.js';
import { itWith } from '../../support/needs.js';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await openClientHarness();
});
afterAll(() => harness.close());

const send = () => harness.client.sendDps(caller, harness.dps.bytes, inAMinute);
const cancel = () => harness.client.sendCancellation(caller, accessKey, harness.cancellation.bytes, inAMinute);

const altered = (xml: Buffer, from: RegExp, to: string): Buffer => {
  const text = xml.toString('utf8');
  expect(text).toMatch(from);
  return Buffer.from(text.replace(from, to), 'utf8');
};

type Fault = readonly [name: string, from: RegExp, to: string];

const faults: readonly Fault[] = [
  ['changed after Sefin signed it', /<ambGer>2</, '<ambGer>1<'],
  ['without the signature of Sefin', /<Signature xmlns(?:(?!<Signature xmlns).)*<\/Signature>(?=<\/\w+>$)/, ''],
];

const note = () => noteAround(harness.dps.bytes);
const event = () => eventAround(harness.cancellation.bytes);

describe.each(faults)('a document %s', (_name, from, to) => {
  it('is no answer to a send; the look-up that follows decides', async () => {
    const packed = altered(note(), from, to);
    harness.server.answer(json(201, issued(packed)));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'success_not_ours_or_unreadable' });
    harness.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(packed) }));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({
      kind: 'found',
      found: { digest: harness.dps.digest, xml: packed },
    });
  });

  it('is no answer to a cancellation; the look-up that follows decides', async () => {
    const packed = gzipBase64(altered(event(), from, to));
    harness.server.answer(json(201, { eventoXmlGZipB64: packed }));
    expect(await cancel()).toMatchObject({ kind: 'unknown' });
    harness.server.answer(json(200, { eventos: [{ tipoEvento: 101101, arquivoXml: packed }] }));
    expect(await harness.client.findCancellation(caller, accessKey)).toMatchObject({
      kind: 'found',
      found: { digest: harness.cancellation.digest },
    });
  });
});

describe('a note whose number is another text', () => {
  it.each(['Maria da Silva', '11144477735', ''])('takes the number of its access key, not "%s"', (number) => {
    const packed = gzipBase64(altered(note(), /<nNFSe>[^<]*</, `<nNFSe>${number}<`));
    expect(readNote(packed)).toMatchObject({ accessKey, nfseNumber: numberOfKey(accessKey) });
  });
});

describe('a document of a time that does not exist', () => {
  it.each([
    '9999-12-31T23:59:59-03:00',
    '0001-01-01T00:00:00+00:00',
    '2026-02-31T10:00:00-03:00',
    '2026-11-21T24:00:00-03:00',
    '2026-11-21T10:00:00+23:00',
  ])('%s is unreadable, a note as an event', (stamp) => {
    const to = `<dhProc>${stamp}<`;
    expect(readNote(gzipBase64(note()))).toBeDefined();
    expect(readNote(gzipBase64(altered(note(), /<dhProc>[^<]*</, to)))).toBeUndefined();
    expect(readEvent(gzipBase64(event()))).toBeDefined();
    expect(readEvent(gzipBase64(altered(event(), /<dhProc>[^<]*</, to)))).toBeUndefined();
  });
});

/** Unknown algorithms, and an unreadable certificate. Each pattern matches the last occurrence, which is in the authorizer's own signature. */
const untold: readonly (readonly [...Fault, fault: string])[] = [
  ['a signature of another day', /rsa-sha256(?!.*rsa-sha256)/, 'rsa-sha512', 'algorithm'],
  ['a digest of another day', /xmlenc#sha256(?!.*xmlenc#sha256)/, 'xmlenc#sha512', 'algorithm'],
  ['a canonicalization of another day', /xml-exc-c14n#WithComments(?!.*xml-exc)/, 'xml-c14n11', 'algorithm'],
  [
    'a certificate that nobody can read',
    /<X509Certificate>[^<]*(?!.*<X509Certificate>)/,
    '<X509Certificate>AAAA',
    'certificate',
  ],
];

describe.each(untold)("the authorizer's own signature with %s", (_name, from, to, fault) => {
  const odd = () => altered(note(), from, to);

  it('does not answer a send, which is looked up and found with a notice', async () => {
    harness.server.answer(json(201, issued(odd())));
    expect(await send()).toMatchObject({ kind: 'unknown', signatureFault: fault });
    harness.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(odd()) }));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({
      kind: 'found',
      found: { digest: harness.dps.digest, signatureFault: fault },
    });
  });

  it('does not answer a cancellation, which is looked up and found with a notice', async () => {
    const packed = gzipBase64(altered(event(), from, to));
    harness.server.answer(json(201, { eventoXmlGZipB64: packed }));
    expect(await cancel()).toMatchObject({ kind: 'unknown', signatureFault: fault });
    harness.server.answer(json(200, { eventos: [{ tipoEvento: 101101, arquivoXml: packed }] }));
    expect(await harness.client.findCancellation(caller, accessKey)).toMatchObject({
      kind: 'found',
      found: { digest: harness.cancellation.digest, signatureFault: fault },
    });
  });
});

describe('our own document inside, changed and with an invented algorithm', () => {
  /** The answer of an attacker: another amount, and a signature that the client cannot judge. */
  const inventions: readonly Fault[] = [
    ['signature', /rsa-sha256/, 'rsa-of-mine'],
    ['digest', /xmlenc#sha256/, 'digest-of-mine'],
    ['canonicalization', /REC-xml-c14n-20010315/, 'REC-of-mine'],
  ];
  const attacked = (from: RegExp, to: string): Buffer =>
    noteAround(altered(altered(harness.dps.bytes, /<vServ>[^<]*</, '<vServ>0.01<'), from, to));

  it.each(inventions)('is not recorded as issued: %s', async (_name, from, to) => {
    harness.server.answer(json(201, issued(attacked(from, to))));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'success_not_ours_or_unreadable' });
  });

  it.each(inventions)('is found as a document that contradicts itself: %s', async (_name, from, to) => {
    harness.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(attacked(from, to)) }));
    const found = await harness.client.findByDps(caller, harness.dps.id);
    expect(found).toMatchObject({
      kind: 'found',
      found: { digest: '', contradiction: { claimed: harness.dps.digest } },
    });
  });

  it.each(inventions)('is no cancellation of ours either: %s', async (_name, from, to) => {
    const other = altered(altered(harness.cancellation.bytes, /<cMotivo>9</, '<cMotivo>1<'), from, to);
    harness.server.answer(json(201, { eventoXmlGZipB64: gzipBase64(eventAround(other)) }));
    expect(await cancel()).toMatchObject({ kind: 'unknown' });
  });
});

describe('a well signed document around another content under our digest', () => {
  const otherAmount = () => noteAround(altered(harness.dps.bytes, /<vServ>[^<]*</, '<vServ>0.01<'));

  it('is not our note', async () => {
    harness.server.answer(json(201, issued(otherAmount())));
    expect(await send()).toMatchObject({ kind: 'unknown' });
  });

  it('is found without our digest, for the caller to judge', async () => {
    harness.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(otherAmount()) }));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({
      kind: 'found',
      found: { digest: '' },
    });
  });

  it('is not our cancellation', async () => {
    const other = eventAround(altered(harness.cancellation.bytes, /<cMotivo>9</, '<cMotivo>1<'));
    harness.server.answer(json(201, { eventoXmlGZipB64: gzipBase64(other) }));
    expect(await cancel()).toMatchObject({ kind: 'unknown' });
  });
});

describe('a document that is not altered', () => {
  it('is believed when the outer document brings a name space that was not there at signing', async () => {
    const wider = noteAround(harness.dps.bytes, ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"');
    harness.server.answer(json(201, issued(wider)));
    expect(await send()).toMatchObject({ kind: 'done', result: { digest: harness.dps.digest } });
  });

  for (const name of [
    'nfse-07-producao-me-epp-cpf.xml',
    'nfse-08-restrita-ibscbs.xml',
    'nfse-09-emissor-web-v1.00.xml',
    'nfse-10-exportacao-construida.xml',
  ]) {
    itWith('samples', `is read: ${name}`, () => {
      const note = readNote(gzipBase64(sample(name)));
      expect(note).toBeDefined();
      expect(note).not.toHaveProperty('signatureFault');
    });
  }

  it('is taken from a file of an operator as it is', () => {
    const [, from, to] = faults[0] ?? ['', /^/, ''];
    expect(readNote(gzipBase64(altered(note(), from, to)))).toMatchObject({ accessKey });
  });
});
