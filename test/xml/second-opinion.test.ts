import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { signDocument } from '../../src/xml/sign.js';
import { verifyIndependently } from '../../src/xml/verify-independently.js';
import { sample } from '../support/fixture/samples.js';
import { accessKey, noteAround, signedDocuments, unsignedDps } from '../support/fixture/xml-documents.js';
import { itWith } from '../support/harness/xml-programs.js';
import { verifySignature } from '../support/verify-signature.js';

const identity = issueCertificate({ subjectName: 'EMPRESA', validDays: 1, now: '2026-09-15T13:00:00.000Z' });
const documents = signedDocuments(identity);

const kinds = [
  ['DPS', 'infDPS'],
  ['NFSe', 'infNFSe'],
  ['pedRegEvento', 'infPedReg'],
  ['evento', 'infEvento'],
] as const;

const replaced = (xml: Buffer, from: RegExp, to: string): Buffer => {
  const text = xml.toString('utf8');
  expect(text.replace(from, to)).not.toBe(text);
  return Buffer.from(text.replace(from, to), 'utf8');
};

describe('secondOpinion', () => {
  it.each(kinds)('agrees with the hot path over a %s, digest and Id', (kind, signedElement) => {
    const first = verifySignature(documents[kind], signedElement);
    expect(first.ok).toBe(true);
    if (!first.ok) return;
    const { digest, reference } = first;
    expect(verifyIndependently(documents[kind], signedElement)).toEqual({ holds: true, digest, reference });
  });

  it.each([
    ['a changed content', /<cStat>100</, '<cStat>101<', 'does not hold'],
    [
      'a changed signature value',
      /<SignatureValue>.{4}(?!.*<SignatureValue>)/,
      '<SignatureValue>AAAA',
      'does not hold',
    ],
    ['a certificate that is none', /<X509Certificate>[^<]*/g, '<X509Certificate>AAAA', 'does not hold'],
    ['a document without the signature of its root', /<\/infNFSe>.*(?=<\/NFSe>)/, '</infNFSe>', 'none'],
    ['a broken document', /<\/NFSe>$/, '', 'not well-formed'],
  ] as const)('refuses %s', (_what, from, to, reason) => {
    expect(verifyIndependently(replaced(documents.NFSe, from, to), 'infNFSe')).toEqual({ holds: false, reason });
  });

  it.each([
    ['U+0085 in a text', 'A\u0085B'],
    ['U+2028 in a text', 'A\u2028B'],
    ['U+2029 in a text', 'A\u2029B'],
    ['U+2028 in CDATA', '<![CDATA[A\u2028<B\u0085]]>\u2028'],
  ])('agrees with the hot path over %s', (_what, text) => {
    const xml = noteAround(unsignedDps).replace('São Luís', text);
    const how = { ...identity, signedElementName: 'infNFSe', id: `NFS${accessKey}` };
    const signed = signDocument(xml, { ...how, algorithm: 'exc-c14n-with-comments' }).bytes;
    const first = verifySignature(signed, 'infNFSe');
    expect(first.ok).toBe(true);
    if (!first.ok) return;
    const { digest, reference } = first;
    expect(verifyIndependently(signed, 'infNFSe')).toEqual({ holds: true, digest, reference });
    const changed = replaced(signed, /[\u0085\u2028\u2029]/, '\n');
    expect(verifyIndependently(changed, 'infNFSe')).toEqual({ holds: false, reason: 'does not hold' });
  });

  it('refuses a signature over another element than the one that counts', () => {
    expect(verifyIndependently(documents.DPS, 'infNFSe')).toEqual({ holds: false, reason: 'of another element' });
  });

  for (const name of ['nfse-07-producao-me-epp-cpf.xml', 'nfse-09-emissor-web-v1.00.xml']) {
    itWith('samples', `accepts ${name}`, () => {
      expect(verifyIndependently(sample(name), 'infNFSe')).toMatchObject({ holds: true });
    });
  }
});
