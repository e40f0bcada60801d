import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate, type KeyAndCertificate } from '../../src/certificates/issue-certificate.js';
import { NOTE, readAuthorizerDocument } from '../../src/xml/received.js';
import { type SigningOptions, signDocument } from '../../src/xml/sign.js';
import { sample, unsignedSample } from '../support/fixture/samples.js';
import { accessKey, dpsId, noteAround, signedDocuments, unsignedDps } from '../support/fixture/xml-documents.js';
import { itWith, xmlCryptoVerifies, xmlsecSigns, xmlsecVerifies } from '../support/harness/xml-programs.js';
import { schemaFaults } from '../support/schema.js';
import { verifySignature } from '../support/verify-signature.js';

const signedSamples = [
  ['dps-01-me-epp-tomador-pj.xml', 'infDPS'],
  ['dps-05-exportacao.xml', 'infDPS'],
  ['nfse-07-producao-me-epp-cpf.xml', 'infNFSe'],
  ['nfse-08-restrita-ibscbs.xml', 'infNFSe'],
  ['pedregevento-11-cancelamento-e101101.xml', 'infPedReg'],
  ['evento-12-cancelamento-e101101.xml', 'infEvento'],
] as const;

const signedKinds = [
  ['DPS', 'infDPS'],
  ['NFSe', 'infNFSe'],
  ['pedRegEvento', 'infPedReg'],
  ['evento', 'infEvento'],
] as const;

let identity: KeyAndCertificate;
let options: SigningOptions;
let documents: ReturnType<typeof signedDocuments>;
beforeAll(() => {
  identity = issueCertificate({ subjectName: 'Teste', validDays: 1, now: '2026-11-21T12:00:00.000Z' });
  options = { signedElementName: 'infDPS', id: dpsId, algorithm: 'c14n', ...identity };
  documents = signedDocuments(identity);
});

const replaced = (xml: Buffer, from: string | RegExp, to: string): Buffer =>
  Buffer.from(xml.toString('utf8').replace(from, to), 'utf8');

/** Replaces the first letter by another one; the letter is not known before, because signatures differ from run to run. */
const otherSignatureValue = (xml: Buffer): Buffer =>
  Buffer.from(
    xml.toString('utf8').replace(/(?<=<SignatureValue>)./, (first) => (first === 'A' ? 'B' : 'A')),
    'utf8',
  );

describe('verifySignature', () => {
  it.each(signedKinds)('accepts a %s', (kind, signed) => {
    expect(verifySignature(documents[kind], signed)).toMatchObject({ ok: true });
  });

  for (const [name, signed] of signedSamples) {
    itWith('samples', `accepts ${name}`, () => {
      expect(verifySignature(sample(name), signed)).toMatchObject({ ok: true });
    });
  }

  itWith('samples', 'accepts rsa-sha1 with sha1, as production documents carry it', () => {
    const note = sample('nfse-07-producao-me-epp-cpf.xml').toString('utf8');
    const embedded = note.slice(note.indexOf('<DPS '), note.indexOf('</DPS>') + '</DPS>'.length);
    expect(embedded).toContain('rsa-sha1');
    expect(verifySignature(Buffer.from(embedded), 'infDPS')).toMatchObject({ ok: true });
  });

  it.each([
    ['a changed amount', /<vServ>1500/, '<vServ>1501', 'digest'],
    ['a reference to another id', /URI="#DPS/, 'URI="#XPS', 'reference'],
    ['an empty reference', /URI="#[^"]+"/, 'URI=""', 'reference'],
    ['an algorithm outside the list', /rsa-sha256/, 'rsa-sha512', 'algorithm'],
    [
      'a digest of another strength',
      /http:\/\/www.w3.org\/2001\/04\/xmlenc#sha256/,
      'http://www.w3.org/2000/09/xmldsig#sha1',
      'algorithm',
    ],
    ['a second reference', /(<Reference.*<\/Reference>)/, '$1$1', 'structure'],
    ['a second signed element', /(<infDPS.*<\/infDPS>)/, '$1$1', 'structure'],
    ['a certificate that is none', /<X509Certificate>..../, '<X509Certificate>AAAA', 'certificate'],
    ['no signature', /<Signature.*<\/Signature>/, '', 'missing'],
    ['a document type', /<DPS /, '<!DOCTYPE DPS><DPS ', 'malformed'],
    ['an open tag', /<\/DPS>/, '', 'malformed'],
  ] as const)('refuses %s', (_title, from, to, reason) => {
    expect(verifySignature(replaced(documents.DPS, from, to), 'infDPS')).toEqual({ ok: false, reason });
  });

  it('refuses a changed signature value', () => {
    const changed = otherSignatureValue(documents.DPS);
    expect(verifySignature(changed, 'infDPS')).toEqual({ ok: false, reason: 'signature_value' });
  });
});

describe('signDocument', () => {
  itWith('samples', 'makes the digest of the sample from the same text', () => {
    const { digest } = signDocument(unsignedSample('dps-01-me-epp-tomador-pj.xml'), options);
    expect(digest).toBe('ByoFgXKny7aEEfOSAg0SlctL9IeM+ktIOPv+gfidTqE=');
  });

  it('signs what verifySignature and xml-crypto accept, and tells the certificate', () => {
    const { bytes, digest } = signDocument(unsignedDps, options);
    const certificateDer = new X509Certificate(identity.certificatePem).raw;
    expect(verifySignature(bytes, 'infDPS')).toEqual({ ok: true, certificateDer, digest, reference: dpsId });
    expect(xmlCryptoVerifies(bytes, identity.certificatePem)).toBe(true);
    expect(schemaFaults('DPS', bytes)).toEqual([]);
    expect(bytes.toString('utf8').startsWith('<?xml version="1.0" encoding="UTF-8"?><DPS ')).toBe(true);
  });

  const signsAsSefin = (unsigned: string, signedElementName: string): void => {
    const id = /Id="([^"]+)"/.exec(unsigned)?.[1] ?? '';
    const sefin = {
      ...options,
      signedElementName,
      id,
      algorithm: 'exc-c14n-with-comments',
    } as const;
    const { bytes } = signDocument(unsigned, sefin);
    expect(verifySignature(bytes, signedElementName)).toMatchObject({ ok: true, reference: id });
    expect(xmlCryptoVerifies(bytes, identity.certificatePem)).toBe(true);
    expect(bytes.toString('utf8').startsWith('<?xml version="1.0" encoding="utf-8"?>')).toBe(true);
  };

  it('signs in the way of the Sefin', () => signsAsSefin(unsignedDps, 'infDPS'));

  for (const [name, signedElementName] of signedSamples) {
    itWith('samples', `signs ${name} again in the way of the Sefin`, () => {
      signsAsSefin(unsignedSample(name), signedElementName);
    });
  }

  it('keeps accents, escapes and characters beyond the basic plane verifiable', () => {
    const unsigned = unsignedDps.replace(/(<xDescServ>)[^<]*/, '$1a &amp; b &lt;c&gt; ção\n𝒳 "q"&#xD;');
    const { bytes } = signDocument(unsigned, options);
    expect(verifySignature(bytes, 'infDPS')).toMatchObject({ ok: true });
    expect(xmlCryptoVerifies(bytes, identity.certificatePem)).toBe(true);
  });

  it('throws for an id that the document does not have', () => {
    expect(() => signDocument(unsignedDps, { ...options, id: 'DPS0' })).toThrow('infDPS');
    const sefin = { ...options, id: 'DPS0', algorithm: 'exc-c14n-with-comments' } as const;
    expect(() => signDocument(unsignedDps, sefin)).toThrow('infDPS');
  });

  itWith('xmlsec1', 'is verified by xmlsec1 in both algorithms', () => {
    for (const algorithm of ['c14n', 'exc-c14n-with-comments'] as const) {
      const { bytes } = signDocument(unsignedDps, { ...options, algorithm });
      expect(xmlsecVerifies(bytes, 'infDPS')).toBe(true);
      expect(xmlsecVerifies(replaced(bytes, '<vServ>1500', '<vServ>1501'), 'infDPS')).toBe(false);
    }
  });
});

describe('comments', () => {
  const algorithm = 'exc-c14n-with-comments';
  const commented = [
    ['in the signed element', (xml: string) => xml.replace('<nNFSe>', '<!-- ERP 1.0 --><nNFSe>')],
    ['inside of a text', (xml: string) => xml.replace('>1467<', '>14<!-- ERP -->67<')],
    ['in the document that it embeds', (xml: string) => xml.replace('<xDescServ>', '<!-- ERP --><xDescServ>')],
    ['beside the signed element', (xml: string) => xml.replace('<infNFSe', '<!-- ERP --><infNFSe')],
  ] as const;
  const signedBy = (xml: string): Buffer =>
    signDocument(xml, { ...options, signedElementName: 'infNFSe', id: `NFS${accessKey}`, algorithm }).bytes;

  it.each(commented)('%s are not signed, as xml-crypto judges it', (_where, added) => {
    const bytes = signedBy(added(noteAround(unsignedDps)));
    expect(bytes.toString('utf8')).toContain('<!--');
    expect(verifySignature(bytes, 'infNFSe')).toMatchObject({ ok: true });
    expect(xmlCryptoVerifies(bytes, identity.certificatePem)).toBe(true);
    expect(readAuthorizerDocument(bytes, NOTE)?.text('NFSe/infNFSe/nNFSe')).toBe('1467');
  });

  it('may come and go without a change of the digest, which covers the text around them', () => {
    const plain = signedBy(noteAround(unsignedDps));
    const later = replaced(plain, '>1467<', '>14<!-- ERP -->67<');
    expect(verifySignature(later, 'infNFSe')).toEqual(verifySignature(plain, 'infNFSe'));
    expect(readAuthorizerDocument(later, NOTE)?.text('NFSe/infNFSe/nNFSe')).toBe('1467');
    expect(verifySignature(replaced(plain, '>1467<', '>14<!-- ERP -->68<'), 'infNFSe')).toMatchObject({ ok: false });
  });

  it('stay signed in SignedInfo, whose own form has them', () => {
    const changed = replaced(signedBy(noteAround(unsignedDps)), '<SignedInfo>', '<SignedInfo><!-- ERP -->');
    expect(verifySignature(changed, 'infNFSe')).toEqual({ ok: false, reason: 'signature_value' });
    expect(() => xmlCryptoVerifies(changed, identity.certificatePem)).toThrow('invalid signature');
  });

  itWith('xmlsec1', 'are judged as xmlsec1 judges and signs them', () => {
    for (const [, added] of commented) {
      const ours = signedBy(added(noteAround(unsignedDps)));
      expect(xmlsecVerifies(ours, 'infNFSe')).toBe(true);
      const theirs = xmlsecSigns(ours, 'infNFSe', identity);
      expect(xmlsecVerifies(theirs, 'infNFSe')).toBe(true);
      expect(verifySignature(theirs, 'infNFSe')).toMatchObject({ ok: true });
      expect(readAuthorizerDocument(theirs, NOTE)?.signatureFault).toBeUndefined();
      const inSignedInfo = replaced(ours, '<SignedInfo>', '<SignedInfo><!-- ERP -->');
      const signedAgain = xmlsecSigns(inSignedInfo, 'infNFSe', identity);
      expect(verifySignature(signedAgain, 'infNFSe')).toMatchObject({ ok: true });
      expect(verifySignature(replaced(signedAgain, '<SignedInfo><!-- ERP -->', '<SignedInfo>'), 'infNFSe')).toEqual({
        ok: false,
        reason: 'signature_value',
      });
    }
  });
});
