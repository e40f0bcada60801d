import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { verifyChain } from '../../../src/app/audit/verify-chain.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { T0 } from '../../domain/invoice/fixtures.js';
import { DEMO_CNPJ } from '../../http/demo.js';
import { fakeAuthorizer } from './fake-authorizer.js';
import { issuerWorld, recordedDocuments } from './world.js';

let identity: KeyAndCertificate;

beforeAll(() => {
  identity = issueCertificate({ subjectName: 'ESTUDIO EXEMPLO', cnpj: DEMO_CNPJ, validDays: 365, now: T0 });
});

const realWorld = () =>
  issuerWorld('live', {
    signer: createDocumentSigner(),
    identityOf: async () => identity,
    authorizer: fakeAuthorizer(),
  });

describe('with real documents', () => {
  it('records the signed DPS before it is sent, and sends those bytes', async () => {
    const world = await realWorld();
    const authorizer = fakeAuthorizer();
    const recorded: (readonly string[])[] = [];
    world.deps.authorizer = {
      ...authorizer,
      sendDps: async (caller, bytes, deadlineAt) => {
        recorded.push(recordedDocuments(await world.events()));
        return await authorizer.sendDps(caller, bytes, deadlineAt);
      },
    };
    await world.issueToTheEnd();
    expect(await world.status()).toBe('issued');
    expect(recorded).toEqual([authorizer.sends.map(String)]);
    expect(recorded[0]?.[0]).toContain('<SignatureValue>');
    expect(authorizer.notes).toHaveLength(1);
    expect((await verifyChain(world.log, ['nfse', 'dps'])).findings).toEqual([]);
  });
});
