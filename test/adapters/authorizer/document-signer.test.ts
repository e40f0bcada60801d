import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { SchemaViolation } from '../../../src/ports/documents.js';
import { openSchemas } from '../../../src/xml/schema.js';
import { verifySignature } from '../../../src/xml/verify.js';
import { acceptedFacts, anyAccepted } from '../../domain/dps/facts.js';
import { itWith, xmllintAccepts, xmlsecVerifies } from '../../xml/support.js';
import { certificateFor, signedCancellation } from './sefin.js';

const now = '2026-11-21T12:00:00.000Z';
const signer = createDocumentSigner();
const dpsOf = (accepted = acceptedFacts()): string =>
  buildDps({ mode: 'test', series: '1', number: 1, accepted, currencyCode: () => '220' }).xml;

let identity: KeyAndCertificate;
beforeAll(() => {
  identity = issueCertificate({ subjectName: 'EMPRESA', cnpj: '12345678000195', validDays: 1, now });
});

describe('createDocumentSigner', () => {
  it('signs any accepted invoice so that signature and schema hold', () => {
    fc.assert(
      fc.property(anyAccepted, (accepted) => {
        const { bytes, digest } = signer.signDps(dpsOf(accepted), identity);
        expect(verifySignature(bytes, 'infDPS')).toMatchObject({ ok: true, digest });
        expect(openSchemas().validate('DPS', bytes)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same digest under another certificate', () => {
    const other = issueCertificate({ subjectName: 'OUTRA', validDays: 1, now });
    const [first, second] = [identity, other].map((by) => signer.signDps(dpsOf(), by));
    expect(second?.digest).toBe(first?.digest);
    expect(second?.bytes).not.toEqual(first?.bytes);
  });

  it('refuses what the schema refuses, without quoting it', () => {
    const wrong = dpsOf().replace('<vServ>80.00', '<vServ>80.0 de Maria');
    expect(() => signer.signDps(wrong, identity)).toThrow(SchemaViolation);
    expect(() => signer.signDps(wrong, identity)).toThrow('vServ');
    expect(() => signer.signDps(wrong, identity)).not.toThrow('Maria');
    expect(() => signer.signPedRegEvento(dpsOf(), identity)).toThrow(SchemaViolation);
  });

  itWith('xmlsec1', 'is verified by xmlsec1', () => {
    expect(xmlsecVerifies(signer.signDps(dpsOf(), identity).bytes, 'infDPS')).toBe(true);
    expect(xmlsecVerifies(signedCancellation(certificateFor(identity, now)).bytes, 'infPedReg')).toBe(true);
  });

  itWith('xmllint', 'passes xmllint', () => {
    xmllintAccepts(signer.signDps(dpsOf(), identity).bytes, 'DPS');
    xmllintAccepts(signedCancellation(certificateFor(identity, now)).bytes, 'pedRegEvento');
  });
});
