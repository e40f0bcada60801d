import { XsdValidator } from 'libxml2-wasm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { buildCancellation } from '../../../src/domain/dps/build-cancellation.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import type { DocumentSigner } from '../../../src/ports/documents.js';
import { acceptedFacts } from '../../support/fixture/dps-facts.js';
import { accessKey } from '../../support/fixture/xml-documents.js';

/** The last argument of each RSA operation: with a function it runs in libuv's pool. */
const lastArguments = vi.hoisted((): unknown[] => []);
vi.mock('node:crypto', async (importOriginal) => {
  const crypto = await importOriginal<typeof import('node:crypto')>();
  const sign = (...args: unknown[]): unknown => {
    lastArguments.push(args.at(-1));
    return Reflect.apply(crypto.sign, crypto, args);
  };
  return { ...crypto, sign };
});

const now = '2026-11-21T12:00:00.000Z';
const compiling = vi.spyOn(XsdValidator, 'fromDoc');
let compiledAtOnce: number;
let signer: DocumentSigner;
let identity: KeyAndCertificate;
beforeAll(() => {
  identity = issueCertificate({ subjectName: 'EMPRESA', cnpj: '12345678000195', validDays: 1, now });
  signer = createDocumentSigner();
  compiledAtOnce = compiling.mock.calls.length;
  lastArguments.length = 0;
});
afterAll(() => compiling.mockRestore());

const signBoth = async (): Promise<void> => {
  const accepted = acceptedFacts();
  const dps = buildDps({ mode: 'test', series: '1', number: 1, accepted, currencyCode: () => undefined });
  const owner = { mode: 'test', companyId: '12345678000195', accessKey } as const;
  const cancellation = { reason: 'other', description: 'Cancelada a pedido do cliente', requestedAt: now } as const;
  await signer.signDps(dps.xml, identity);
  await signer.signPedRegEvento(buildCancellation({ ...owner, ...cancellation }).xml, identity);
};

describe('the event loop of a signer', () => {
  it('has the schemas compiled before there is a document, and once', async () => {
    expect(compiledAtOnce).toBe(2);
    await signBoth();
    await signBoth();
    expect(compiling).toHaveBeenCalledTimes(2);
  });

  it('does no RSA operation', async () => {
    lastArguments.length = 0;
    await signBoth();
    expect(lastArguments).toEqual([expect.any(Function), expect.any(Function)]);
  });
});
