import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readNote } from '../../../src/adapters/authorizer/documents.js';
import { gzipBase64 } from '../../../src/xml/transport.js';
import { itWith } from '../../support/needs.js';
import { sample } from '../../support/samples.js';
import { json } from './authorizer-server.js';
import { type ClientRig, caller, inAMinute, openClientRig } from './rig.js';
import { accessKey, eventAround, issued, noteAround } from './sefin.js';

let rig: ClientRig;
beforeAll(async () => {
  rig = await openClientRig();
});
afterAll(() => rig.close());

const send = () => rig.client.sendDps(caller, rig.dps.bytes, inAMinute);
const cancel = () => rig.client.sendCancellation(caller, accessKey, rig.cancellation.bytes, inAMinute);

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

const note = () => noteAround(rig.dps.bytes);
const event = () => eventAround(rig.cancellation.bytes);

describe.each(faults)('a document %s', (_name, from, to) => {
  it('does not answer a send, which is looked up; what the look-up shows is what stands', async () => {
    const packed = altered(note(), from, to);
    rig.server.answer(json(201, issued(packed)));
    expect(await send()).toMatchObject({ kind: 'unknown', reason: 'success_not_ours_or_unreadable' });
    rig.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(packed) }));
    expect(await rig.client.findByDps(caller, rig.dps.id)).toMatchObject({
      kind: 'found',
      found: { dpsDigest: rig.dps.digest, xml: packed },
    });
  });

  it('does not answer a cancellation, which is looked up; what the look-up shows is what stands', async () => {
    const packed = gzipBase64(altered(event(), from, to));
    rig.server.answer(json(201, { eventoXmlGZipB64: packed }));
    expect(await cancel()).toMatchObject({ kind: 'unknown' });
    rig.server.answer(json(200, { eventos: [{ tipoEvento: 101101, arquivoXml: packed }] }));
    expect(await rig.client.findCancellation(caller, accessKey)).toMatchObject({
      kind: 'found',
      found: { requestDigest: rig.cancellation.digest },
    });
  });
});

describe('a well signed document around another content under our digest', () => {
  const otherAmount = () => noteAround(altered(rig.dps.bytes, /<vServ>[^<]*</, '<vServ>0.01<'));

  it('is not our note', async () => {
    rig.server.answer(json(201, issued(otherAmount())));
    expect(await send()).toMatchObject({ kind: 'unknown' });
  });

  it('is found without our digest, for the caller to judge', async () => {
    rig.server.answer(json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(otherAmount()) }));
    expect(await rig.client.findByDps(caller, rig.dps.id)).toMatchObject({ kind: 'found', found: { dpsDigest: '' } });
  });

  it('is not our cancellation', async () => {
    const other = eventAround(altered(rig.cancellation.bytes, /<cMotivo>9</, '<cMotivo>1<'));
    rig.server.answer(json(201, { eventoXmlGZipB64: gzipBase64(other) }));
    expect(await cancel()).toMatchObject({ kind: 'unknown' });
  });
});

describe('a document that cannot be told to be altered', () => {
  it('is believed when an algorithm is of another day', async () => {
    const tomorrow = altered(note(), /rsa-sha256(?!.*rsa-sha256)/, 'rsa-sha512');
    rig.server.answer(json(201, issued(tomorrow)));
    expect(await send()).toMatchObject({ kind: 'done' });
  });

  it('is believed when the outer document brings a name space that was not there at signing', async () => {
    const wider = noteAround(rig.dps.bytes, ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"');
    rig.server.answer(json(201, issued(wider)));
    expect(await send()).toMatchObject({ kind: 'done', result: { dpsDigest: rig.dps.digest } });
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
