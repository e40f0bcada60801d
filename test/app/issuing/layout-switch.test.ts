import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import type { Mode } from '../../../src/domain/common/ids.js';
import { addSeconds, brasiliaDate } from '../../../src/domain/common/time.js';
import { buildCancellation } from '../../../src/domain/dps/build-cancellation.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import { layoutOfDocument, publishedLayouts } from '../../../src/domain/dps/layout.js';
import { SchemaViolation } from '../../../src/ports/documents.js';
import { schemaFaults } from '../../../src/xml/schema.js';
import { signedParts } from '../../../src/xml/sign.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { acceptedFacts } from '../../support/fixture/dps-facts.js';
import { issuingHarness, recordedDocuments } from '../../support/harness/issuing.js';

vi.mock('../../../src/domain/dps/layouts.js', async (load) => {
  const { layouts } = await load<typeof import('../../../src/domain/dps/layouts.js')>();
  // The factory runs before this file's own imports.
  const { inventedLayout } = await import('../../support/fixture/invented-layout.js');
  return { layouts: [...layouts, inventedLayout()] };
});

/** Midnight in Brasília, at which the invented layout begins in production. */
const MIDNIGHT = '2026-11-22T03:00:00.000Z';

let identity: KeyAndCertificate;
let renewed: KeyAndCertificate;
beforeAll(() => {
  const certificate = { subjectName: 'EMPRESA', cnpj: DEMO_CNPJ, validDays: 30, now: '2026-11-20T12:00:00.000Z' };
  identity = issueCertificate(certificate);
  renewed = issueCertificate(certificate);
});

const facts = (seconds: number) => {
  const acceptedAt = addSeconds(MIDNIGHT, seconds);
  return { acceptedAt, competence: brasiliaDate(acceptedAt) };
};

const versionOf = (document: string): string | undefined =>
  /^(?:<\?[^>]*>)?<\w+ [^>]*versao="([^"]+)"/.exec(document)?.[1];

const dpsAt = (seconds: number, mode: Mode = 'live'): string =>
  buildDps({ mode, series: '1', number: 1, accepted: acceptedFacts(facts(seconds)), currencyCode: () => undefined })
    .xml;

const requestAt = (seconds: number, mode: Mode = 'live'): string =>
  buildCancellation({
    mode,
    companyId: DEMO_CNPJ,
    accessKey: '21113002212345678000195000000000146726037032711027',
    reason: 'other',
    description: 'Pedido pelo cliente',
    requestedAt: addSeconds(MIDNIGHT, seconds),
  }).xml;

describe('a layout that begins at midnight of Brasília', () => {
  it.each([
    ['a day before', -86_400, '1.01', '1.01'],
    ['in the last second before', -1, '1.01', '1.01'],
    // `dhEvento` is a minute behind the request; `dhEmi` is never before the day of the competence.
    ['at midnight', 0, '1.99', '1.01'],
    ['a minute after', 60, '1.99', '1.99'],
  ])('holds for what is stamped on its first day or later: %s', (_when, seconds, dps, request) => {
    expect([versionOf(dpsAt(seconds)), versionOf(requestAt(seconds))]).toEqual([dps, request]);
  });

  it('begins on another day in the other environment', () => {
    expect(versionOf(dpsAt(-86_400, 'test'))).toBe('1.99');
    expect(versionOf(dpsAt(-3 * 86_400, 'test'))).toBe('1.01');
  });

  it('has schemas of its own beside those of before, and each document is checked by the schemas of its layout', async () => {
    const [old, fresh] = publishedLayouts().map(({ schemas }) => schemas);
    if (old === undefined || fresh === undefined) throw new Error('two layouts are published');
    for (const [kind, build] of [
      ['DPS', dpsAt],
      ['pedRegEvento', requestAt],
    ] as const) {
      const [before, after] = [build(-3_600), build(3_600)].map((xml) => Buffer.from(xml));
      if (before === undefined || after === undefined) throw new Error('two documents were built');
      expect(schemaFaults(old, kind, before)).toEqual([]);
      expect(schemaFaults(fresh, kind, after)).toEqual([]);
      expect(schemaFaults(old, kind, after).join()).toContain('versao');
      expect(schemaFaults(fresh, kind, before).join()).toContain('versao');
    }
    const signer = createDocumentSigner();
    await expect(signer.signDps(dpsAt(3_600).replace('"1.99"', '"1.01"'), identity)).rejects.toThrow(SchemaViolation);
    await expect(signer.signDps(dpsAt(-3_600).replace('"1.01"', '"1.99"'), identity)).rejects.toThrow(SchemaViolation);
    await signer.signDps(dpsAt(3_600), identity);
    await signer.signPedRegEvento(requestAt(3_600), identity);
  });

  it('sends an invoice of before as it was accepted, also when it is sent and signed again after midnight', async () => {
    let current = identity;
    const parts = { signer: createDocumentSigner(), identityOf: async () => current };
    const harness = await issuingHarness('live', parts, facts(-120));
    harness.authorizer.script = ['not_sent'];
    await harness.issue();
    const [first] = recordedDocuments(await harness.events());
    harness.clock.moveTo(addSeconds(MIDNIGHT, 300));
    current = renewed;
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    const sent = recordedDocuments(await harness.events());
    expect(sent.map(versionOf)).toEqual(['1.01', '1.01']);
    expect(sent.map((document) => signedParts(document)?.unsigned)).toEqual(
      Array(2).fill(signedParts(first ?? '')?.unsigned),
    );
    expect(sent[1]).not.toBe(first);
  });

  it('sends an invoice that was accepted before and first signed after midnight in the layout of its acceptance', async () => {
    const parts = { signer: createDocumentSigner(), identityOf: async () => identity };
    const harness = await issuingHarness('live', parts, facts(-120));
    harness.clock.moveTo(addSeconds(MIDNIGHT, 300));
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(recordedDocuments(await harness.events()).map(versionOf)).toEqual(['1.01']);
  });

  it('sends an invoice of its first day in the new layout', async () => {
    const parts = { signer: createDocumentSigner(), identityOf: async () => identity };
    const harness = await issuingHarness('live', parts, facts(120));
    await harness.issueToTheEnd();
    expect(await harness.status()).toBe('issued');
    expect(recordedDocuments(await harness.events()).map(versionOf)).toEqual(['1.99']);
  });
});

describe('layoutOfDocument', () => {
  it('reads environment and stamp, and nothing that a text holds', () => {
    expect(layoutOfDocument(dpsAt(3_600)).version).toBe('1.99');
    expect(layoutOfDocument(requestAt(-3_600)).version).toBe('1.01');
    expect(() => layoutOfDocument('<DPS versao="1.01"><infDPS Id="DPS1"></infDPS></DPS>')).toThrow();
  });
});
