import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { SchemaViolation } from '../../../src/ports/documents.js';
import { type Accepted, acceptedFacts, anyAccepted } from '../../support/fixture/dps-facts.js';
import { certificateFor, signedCancellation } from '../../support/fixture/sefin.js';
import { itWith, xmlCryptoVerifies, xmllintAccepts, xmlsecVerifies } from '../../support/harness/xml-programs.js';
import { schemaFaults } from '../../support/schema.js';
import { verifySignature } from '../../support/verify-signature.js';

const now = '2026-11-21T12:00:00.000Z';
const dpsOf = (accepted = acceptedFacts()): string =>
  buildDps({ mode: 'test', series: '1', number: 1, accepted, currencyCode: () => '220' }).xml;

const signer = createDocumentSigner();
let identity: KeyAndCertificate;
beforeAll(() => {
  identity = issueCertificate({ subjectName: 'EMPRESA', cnpj: '12345678000195', validDays: 1, now });
});

/** One acceptance for each shape that the document of a regime or a customer can have. */
const { issuer } = acceptedFacts();
const shapes: readonly (readonly [string, Partial<Accepted>])[] = [
  ['MEI', { issuer: { ...issuer, taxRegime: 'mei', simplesAssessment: 'none' } }],
  ['Simples, all taxes inside', { issuer: { ...issuer, taxRegime: 'simples', simplesAssessment: 'all' } }],
  ['Simples, ISS outside', { issuer: { ...issuer, taxRegime: 'simples', simplesAssessment: 'federal_only' } }],
  ['Simples, all taxes outside', { issuer: { ...issuer, taxRegime: 'simples', simplesAssessment: 'none' } }],
  ['the normal regime', { issuer: { ...issuer, taxRegime: 'normal', simplesAssessment: 'none' } }],
  [
    'a customer whose name needs escapes',
    { customer: { type: 'br', document: '11111111000191', name: 'A & B <C> "ção"' } },
  ],
  [
    'an export',
    {
      customer: {
        type: 'foreign',
        taxId: 'X-1',
        name: 'Example Inc',
        address: {
          street: 'Main Street',
          number: '1',
          district: 'Centre',
          city: 'Springfield',
          state: 'OR',
          postalCode: '97477',
          country: 'US',
        },
      },
      foreignAmount: { currency: 'USD', amountInCents: 1500 },
    },
  ],
  ['the longest description', { description: '&'.repeat(1000) }],
];

describe('createDocumentSigner', () => {
  it('signs any accepted invoice so that signature and schema hold', async () => {
    await fc.assert(
      fc.asyncProperty(anyAccepted, async (accepted) => {
        const { bytes, digest } = await signer.signDps(dpsOf(accepted), identity);
        expect(verifySignature(bytes, 'infDPS')).toMatchObject({ ok: true, digest });
        expect(schemaFaults('DPS', bytes)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('gives the same digest under another certificate', async () => {
    const other = issueCertificate({ subjectName: 'OUTRA', validDays: 1, now });
    const [first, second] = await Promise.all([identity, other].map((by) => signer.signDps(dpsOf(), by)));
    expect(second?.digest).toBe(first?.digest);
    expect(second?.bytes).not.toEqual(first?.bytes);
  });

  it('signs again what another certificate has signed, and leaves alone what is its own or has another shape', async () => {
    const other = issueCertificate({ subjectName: 'OUTRA', validDays: 1, now });
    const first = await signer.signDps(dpsOf(), identity);
    expect(await signer.renew(first.bytes, identity)).toBeUndefined();
    expect(await signer.renew(first.bytes, other)).toEqual(await signer.signDps(dpsOf(), other));
    expect(await signer.renew(Buffer.from(dpsOf()), other)).toBeUndefined();
  });

  it('refuses what the schema refuses, without quoting it', async () => {
    const wrong = signer.signDps(dpsOf().replace('<vServ>80.00', '<vServ>80.0 de Maria'), identity);
    await expect(wrong).rejects.toThrow(SchemaViolation);
    await expect(wrong).rejects.toThrow('vServ');
    await expect(wrong).rejects.not.toThrow('Maria');
    await expect(signer.signPedRegEvento(dpsOf(), identity)).rejects.toThrow(SchemaViolation);
  });

  it.each(shapes)('signs what xml-crypto accepts, and only unchanged: %s', async (_name, changes) => {
    const { bytes } = await signer.signDps(dpsOf(acceptedFacts(changes)), identity);
    expect(xmlCryptoVerifies(bytes, identity.certificatePem)).toBe(true);
    const changed = bytes.toString('utf8').replace('<vServ>', '<vServ>1');
    expect(xmlCryptoVerifies(Buffer.from(changed), identity.certificatePem)).toBe(false);
  });

  it('signs a cancellation that xml-crypto accepts', async () => {
    const certificate = certificateFor(identity, now);
    const { bytes } = await signedCancellation(certificate);
    expect(xmlCryptoVerifies(bytes, certificate.certificatePem)).toBe(true);
  });

  for (const [name, changes] of shapes) {
    itWith('xmlsec1', `is verified by xmlsec1: ${name}`, async () => {
      const { bytes } = await signer.signDps(dpsOf(acceptedFacts(changes)), identity);
      expect(xmlsecVerifies(bytes, 'infDPS')).toBe(true);
    });

    itWith('xmllint', `passes xmllint: ${name}`, async () => {
      xmllintAccepts((await signer.signDps(dpsOf(acceptedFacts(changes)), identity)).bytes, 'DPS');
    });
  }

  itWith('xmlsec1', 'is verified by xmlsec1: a cancellation', async () => {
    const { bytes } = await signedCancellation(certificateFor(identity, now));
    expect(xmlsecVerifies(bytes, 'infPedReg')).toBe(true);
    expect(xmlsecVerifies(Buffer.from(bytes.toString('utf8').replace('<xMotivo>', '<xMotivo>x')), 'infPedReg')).toBe(
      false,
    );
  });

  itWith('xmllint', 'passes xmllint: a cancellation', async () => {
    xmllintAccepts((await signedCancellation(certificateFor(identity, now))).bytes, 'pedRegEvento');
  });
});
