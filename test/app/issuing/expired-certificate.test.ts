import { expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { unlessExpired } from '../../../src/app/issuing/open-certificate.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { dpsStream } from '../../../src/domain/common/ids.js';
import type { CompanyCertificate } from '../../../src/ports/certificate-vault.js';
import { leafBase64, signedParts } from '../../../src/xml/sign.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { at, cancelRequested, T0 } from '../../support/fixture/invoice.js';
import { issuingHarness, recordedDocuments } from '../../support/harness/issuing.js';

const certificateUntil = (notAfter: string): CompanyCertificate => ({
  ...issueCertificate({ subjectName: 'ESTUDIO', cnpj: DEMO_CNPJ, validDays: 365, now: T0 }),
  certificateId: notAfter,
  chainPem: [],
  cnpj: DEMO_CNPJ,
  notBefore: T0,
  notAfter,
  fingerprint: 'f',
});

/** A company whose certificate ends at `endsAt`, and is renewed by `renew`. */
const harnessWithEnd = async (endsAt: string) => {
  let current = certificateUntil(endsAt);
  const harness = await issuingHarness('live', { signer: createDocumentSigner() });
  harness.deps.identityOf = unlessExpired(async () => current, harness.clock);
  const numbersTaken = async (): Promise<number> => {
    const { series } = demoCompany(DEMO_CNPJ).registration.dps.live;
    return (await harness.store.load(dpsStream('live', DEMO_CNPJ, series))).events.length;
  };
  return {
    harness,
    numbersTaken,
    renew: (): CompanyCertificate => {
      current = certificateUntil(at(86_400));
      return current;
    },
  };
};

const HELD = { kind: 'later', at: at(90) };

type Harness = Awaited<ReturnType<typeof issuingHarness>>;

const expectHeld = async (harness: Harness, work: Harness['issue']): Promise<void> => {
  const before = await harness.types();
  expect(await work()).toEqual(HELD);
  expect(await harness.types()).toEqual(before);
};

it('holds an invoice under an expired certificate without a number and without an attempt, until another is stored', async () => {
  const { harness, numbersTaken, renew } = await harnessWithEnd(at(60));
  harness.clock.moveTo(at(60));
  expect(await harness.issue()).toEqual(HELD);
  expect(await harness.types()).toEqual(['InvoiceAccepted']);
  expect(await numbersTaken()).toBe(0);
  expect(harness.notices.map(({ kind }) => kind)).toEqual(['certificate_missing']);
  expect(await harness.status()).toBe('queued');
  renew();
  await harness.issue();
  expect(await harness.status()).toBe('issued');
});

it('signs until the end of the certificate', async () => {
  const { harness } = await harnessWithEnd(at(60));
  harness.clock.moveTo(at(59));
  await harness.issue();
  expect(await harness.status()).toBe('issued');
});

it('records no further attempt of an invoice whose certificate ended after an attempt that did not leave', async () => {
  const { harness, numbersTaken, renew } = await harnessWithEnd(at(60));
  harness.authorizer.script = ['not_sent'];
  await harness.issue();
  harness.clock.moveTo(at(60));
  await expectHeld(harness, harness.issue);
  const { certificatePem } = renew();
  await harness.issue();
  expect(await harness.status()).toBe('issued');
  const last = recordedDocuments(await harness.events()).at(-1) ?? '';
  expect(signedParts(last)?.certificate).toBe(leafBase64(certificatePem));
  expect(await numbersTaken()).toBe(1);
});

it('holds a cancellation under an expired certificate without an attempt, until another is stored', async () => {
  const { harness, renew } = await harnessWithEnd(at(60));
  await harness.issue();
  harness.clock.moveTo(at(60));
  await harness.record(cancelRequested(60));
  await expectHeld(harness, harness.cancel);
  renew();
  await harness.cancel();
  expect(await harness.status()).toBe('canceled');
});

it('holds a cancellation that did not leave before the certificate ended', async () => {
  const { harness, renew } = await harnessWithEnd(at(60));
  await harness.issue();
  await harness.record(cancelRequested(0));
  harness.authorizer.script = ['not_sent'];
  await harness.cancel();
  harness.clock.moveTo(at(60));
  await expectHeld(harness, harness.cancel);
  renew();
  await harness.cancel();
  expect(await harness.status()).toBe('canceled');
});

it('looks up soon after another certificate is stored, because no pause grew by look-ups that did not leave', async () => {
  const harness = await issuingHarness();
  const { findByDps } = harness.authorizer;
  const looked: string[] = [];
  let isExpired = true;
  harness.deps.authorizer = {
    ...harness.authorizer,
    findByDps: async (caller, dpsId, until) => {
      looked.push(harness.clock.now());
      if (isExpired) return { kind: 'inconclusive', reason: 'certificate_expired' };
      return await findByDps(caller, dpsId, until);
    },
  };
  harness.authorizer.script = ['lost_answer'];
  while (looked.length < 10) {
    const next = await harness.issue();
    if (next.kind !== 'later') throw new Error(next.kind);
    harness.clock.moveTo(next.at);
  }
  expect(looked).toEqual(Array.from({ length: 10 }, (_, nth) => at(30 * (nth + 1))));
  isExpired = false;
  await harness.issue();
  expect(await harness.status()).toBe('issued');
});
