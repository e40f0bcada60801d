import { XMLParser } from 'fast-xml-parser';
import { XmlDocument, XmlElement } from 'libxml2-wasm';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { DPS_KIND, EVENT_KIND, takeIn } from '../../src/simulator/intake.js';
import { SCHEMAS } from '../../src/simulator/schema-sentence.js';
import { gzipBase64 } from '../../src/xml/packing.js';
import { EVENT, NOTE, readAuthorizerDocument } from '../../src/xml/received.js';
import { compileSchemas } from '../../src/xml/schema.js';
import { signedDocuments } from '../support/fixture/xml-documents.js';

const certificatesParsed = vi.hoisted(() => ({ count: 0 }));
vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof import('node:crypto')>();
  const X509Certificate = new Proxy(crypto.X509Certificate, {
    construct: (target, args) => {
      certificatesParsed.count += 1;
      return Reflect.construct(target, args);
    },
  });
  return { ...crypto, X509Certificate };
});

const now = '2026-11-21T12:00:00.000Z';
const documentsOf = (subjectName: string) => signedDocuments(issueCertificate({ subjectName, validDays: 1, now }));

const parses = vi.spyOn(XmlDocument, 'fromBuffer');
const secondParses = vi.spyOn(XMLParser.prototype, 'parse');
const wholeForms = vi.spyOn(XmlDocument.prototype, 'canonicalize');
const partForms = vi.spyOn(XmlElement.prototype, 'canonicalize');
const countFromHere = (): void => {
  for (const spy of [parses, secondParses, wholeForms, partForms]) spy.mockClear();
  certificatesParsed.count = 0;
};
afterAll(() => vi.restoreAllMocks());

const embeddedIn = (xml: Buffer, name: string): Buffer => {
  const end = `</${name}>`;
  return xml.subarray(xml.indexOf(`<${name} `), xml.indexOf(end) + end.length);
};

describe('the work of reading a document that the authorizer made of ours', () => {
  it('is one parse and one canonical form, and one certificate for all documents of a signer', () => {
    const { NFSe, evento } = documentsOf('UM');
    countFromHere();
    for (const sent of [undefined, embeddedIn(NFSe, 'DPS')])
      expect(readAuthorizerDocument(NFSe, NOTE, sent)).toMatchObject({ signatureFault: undefined });
    for (const sent of [undefined, embeddedIn(evento, 'pedRegEvento')])
      expect(readAuthorizerDocument(evento, EVENT, sent)).toMatchObject({ signatureFault: undefined });
    expect(parses).toHaveBeenCalledTimes(4);
    expect(wholeForms).toHaveBeenCalledTimes(4);
    expect(partForms).not.toHaveBeenCalled();
    expect(secondParses).not.toHaveBeenCalled();
    expect(certificatesParsed.count).toBe(1);
  });

  it('is no canonical form of the whole when our document does not stand in it byte for byte', () => {
    const { NFSe } = documentsOf('DOIS');
    const other = Buffer.from(String(embeddedIn(NFSe, 'DPS')).replace('<vServ>', '<vServ> '));
    countFromHere();
    expect(readAuthorizerDocument(NFSe, NOTE, other)).toMatchObject({ signatureFault: undefined });
    expect(parses).toHaveBeenCalledTimes(1);
    expect(wholeForms).not.toHaveBeenCalled();
    expect(partForms).toHaveBeenCalledTimes(3);
    expect(secondParses).toHaveBeenCalledTimes(1);
  });

  it('is one certificate for each signer, however they alternate, and one more for each that nobody can read', () => {
    const [one, other] = [documentsOf('TRES').NFSe, documentsOf('QUATRO').NFSe];
    countFromHere();
    for (const xml of [one, other, one, other]) readAuthorizerDocument(xml, NOTE);
    expect(certificatesParsed.count).toBe(2);
    const broken = Buffer.from(
      String(one).replace(/<X509Certificate>....(?!.*<X509Certificate>)/, '<X509Certificate>AAAA'),
    );
    for (let time = 0; time < 2; time += 1)
      expect(readAuthorizerDocument(broken, NOTE)).toMatchObject({ signatureFault: 'certificate' });
    // The text and then libxml2 find it unreadable, each time.
    expect(certificatesParsed.count).toBe(2 + 4);
  });
});

describe('the work of the simulator on a document that it takes in', () => {
  it('is one parse and one canonical form, which gives the values too', () => {
    const { DPS, pedRegEvento } = documentsOf('CINCO');
    compileSchemas(SCHEMAS, 'DPS', 'pedRegEvento');
    countFromHere();
    expect(takeIn(gzipBase64(DPS), DPS_KIND, { strict: true })).toMatchObject({ ok: true });
    expect(takeIn(gzipBase64(pedRegEvento), EVENT_KIND, { strict: true })).toMatchObject({ ok: true });
    expect(parses).toHaveBeenCalledTimes(2);
    expect(wholeForms).toHaveBeenCalledTimes(2);
    expect(secondParses).not.toHaveBeenCalled();
  });

  it('is a second parse where the canonical text does not show the elements', () => {
    const { DPS } = documentsOf('SEIS');
    const commented = Buffer.from(String(DPS).replace('<infDPS ', '<!-- c --><infDPS '));
    countFromHere();
    expect(takeIn(gzipBase64(commented), DPS_KIND, { strict: true })).toMatchObject({ ok: true });
    expect(secondParses).toHaveBeenCalledTimes(1);
  });
});
