import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { createCertificateOpener } from '../../../src/app/issuing/open-certificate.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { keyFault } from '../../../src/certificates/key-fault.js';
import { companyStream, dpsStream } from '../../../src/domain/common/ids.js';
import type { CompanyEvent } from '../../../src/domain/company/events.js';
import type { CertificateVault, CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { leafBase64, signedParts } from '../../../src/xml/sign.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { certificateOfKey, forgedKeyOf } from '../../support/fixture/rsa-keys.js';
import { fakeAuthorizer, type Turn } from '../../support/harness/fake-authorizer.js';
import { issuingHarness, recordedDocuments } from '../../support/harness/issuing.js';
import { verifyChain } from '../../support/verify-chain.js';
import { verifySignature } from '../../support/verify-signature.js';

let identity: KeyAndCertificate;

beforeAll(() => {
  identity = issueCertificate({ subjectName: 'ESTUDIO EXEMPLO', cnpj: DEMO_CNPJ, validDays: 365, now: T0 });
});

const harnessWithRealDocuments = () =>
  issuingHarness('live', {
    signer: createDocumentSigner(),
    identityOf: async () => identity,
    authorizer: fakeAuthorizer(),
  });

it('takes no number for a key that does not sign, however often it tries', async () => {
  const privateKeyPem = forgedKeyOf(2_048);
  const certificatePem = certificateOfKey(privateKeyPem, { cnpj: DEMO_CNPJ, now: T0 });
  const facts = { certificateId: 'c', notBefore: T0, notAfter: at(86_400), fingerprint: 'f' };
  const stored: CompanyCertificate = { ...facts, privateKeyPem, certificatePem, chainPem: [], cnpj: DEMO_CNPJ };
  const harness = await issuingHarness('live', {
    signer: createDocumentSigner(),
    company: async () => ({ ...demoCompany(DEMO_CNPJ), certificate: facts }),
  });
  const { store, clock, company } = harness.deps;
  const vault = { open: async () => stored } as unknown as CertificateVault;
  harness.deps.identityOf = createCertificateOpener({
    vault,
    faultOf: keyFault,
    store,
    clock,
    company,
    actor: 'worker:issuer',
  });
  await harness.issueToTheEnd();
  expect(await harness.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
  const { series } = demoCompany(DEMO_CNPJ).registration.dps.live;
  expect((await store.load(dpsStream('live', DEMO_CNPJ, series))).events).toEqual([]);
  const opened = (await store.load<CompanyEvent>(companyStream(DEMO_CNPJ))).events;
  expect(opened).toMatchObject([{ type: 'CertificateOpened', data: { unusable: 'key_broken' } }]);
  expect(new Set(harness.notices.map(({ kind }) => kind))).toEqual(new Set(['certificate_missing']));
});

/** The leaf that a signed document names. */
const namedIn = (document: Buffer): string => signedParts(document.toString('utf8'))?.certificate ?? 'none';

/** Content and Id of the signed element, independent of the signer. */
const contentOf = (document: Buffer): string => signedParts(document.toString('utf8'))?.unsigned ?? '';

/** A company whose certificate is renewed while one of its documents waits to be sent again. */
const harnessWithRenewal = async () => {
  const [old, fresh] = ['VELHO', 'NOVO'].map((subjectName) =>
    issueCertificate({ subjectName, cnpj: DEMO_CNPJ, validDays: 365, now: T0 }),
  );
  if (old === undefined || fresh === undefined) throw new Error('two certificates were made');
  let current = old;
  const harness = await issuingHarness('live', { signer: createDocumentSigner(), identityOf: async () => current });
  const { authorizer } = harness;
  const { sendDps, sendCancellation } = authorizer;
  const attempted: Buffer[] = [];
  harness.deps.authorizer = {
    ...authorizer,
    sendDps: (caller, bytes, deadlineAt) => {
      attempted.push(bytes);
      return sendDps(caller, bytes, deadlineAt);
    },
    sendCancellation: (caller, key, bytes, deadlineAt) => {
      attempted.push(bytes);
      return sendCancellation(caller, key, bytes, deadlineAt);
    },
  };
  return {
    harness,
    attempted,
    oldLeaf: leafBase64(old.certificatePem),
    freshLeaf: leafBase64(fresh.certificatePem),
    renew: () => {
      current = fresh;
    },
  };
};

describe('a certificate that is renewed while an attempt waits for the next', () => {
  it.each<[string, Turn]>([
    ['the authorizer refused the old one', 'certificate_refused'],
    ['nothing left the house', 'not_sent'],
    ['the request never arrived', 'lost_request'],
  ])('signs the same content of an invoice when %s', async (_case, turn) => {
    const { harness, attempted, renew, oldLeaf, freshLeaf } = await harnessWithRenewal();
    harness.authorizer.script = [turn];
    await harness.issue();
    renew();
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(attempted.map(namedIn)).toEqual([oldLeaf, freshLeaf]);
    expect(new Set(attempted.map(contentOf)).size).toBe(1);
    expect(recordedDocuments(await harness.events())).toEqual(attempted.map(String));
    expect(verifySignature(attempted[1] ?? Buffer.alloc(0), 'infDPS')).toMatchObject({ ok: true });
    expect(harness.authorizer.notes).toHaveLength(1);
  });

  it('signs the same request of a cancellation', async () => {
    const { harness, attempted, renew, oldLeaf, freshLeaf } = await harnessWithRenewal();
    await harness.issueToTheEnd();
    const at = harness.clock.now();
    await harness.record({
      type: 'CancellationRequested',
      data: { request: 1, reason: 'other', description: 'Cancelamento pedido pelo cliente.', requestedAt: at },
    });
    attempted.length = 0;
    harness.authorizer.script = ['certificate_refused'];
    await harness.cancel();
    renew();
    await harness.cancelToTheEnd();
    expect(await harness.status()).toBe('canceled');
    expect(attempted.map(namedIn)).toEqual([oldLeaf, freshLeaf]);
    expect(new Set(attempted.map(contentOf)).size).toBe(1);
    expect(verifySignature(attempted[1] ?? Buffer.alloc(0), 'infPedReg')).toMatchObject({ ok: true });
  });

  it('changes no byte while the certificate is the same', async () => {
    const { harness, attempted } = await harnessWithRenewal();
    harness.authorizer.script = ['not_sent', 'lost_request'];
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(attempted).toHaveLength(3);
    expect(new Set(attempted.map(String)).size).toBe(1);
  });
});

describe('with real documents', () => {
  it('records the signed DPS before it is sent, and sends those bytes', async () => {
    const harness = await harnessWithRealDocuments();
    const authorizer = fakeAuthorizer();
    const recorded: (readonly string[])[] = [];
    harness.deps.authorizer = {
      ...authorizer,
      sendDps: async (caller, bytes, deadlineAt) => {
        recorded.push(recordedDocuments(await harness.events()));
        return await authorizer.sendDps(caller, bytes, deadlineAt);
      },
    };
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(recorded).toEqual([authorizer.sends.map(String)]);
    expect(recorded[0]?.[0]).toContain('<SignatureValue>');
    expect(authorizer.notes).toHaveLength(1);
    expect((await verifyChain(harness.log, ['nfse', 'dps'])).findings).toEqual([]);
  });
});
