import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { issueCertificate, type KeyAndCertificate } from '../../../src/certificates/issue-certificate.js';
import { leafBase64, signedParts } from '../../../src/xml/sign.js';
import { verifySignature } from '../../../src/xml/verify.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { T0 } from '../../support/fixture/invoice.js';
import { fakeAuthorizer, type Turn } from '../../support/harness/fake-authorizer.js';
import { issuingHarness, recordedDocuments } from '../../support/harness/issuing.js';
import { verifyChain } from '../../support/verify-chain.js';

let identity: KeyAndCertificate;

beforeAll(() => {
  identity = issueCertificate({ subjectName: 'ESTUDIO EXEMPLO', cnpj: DEMO_CNPJ, validDays: 365, now: T0 });
});

const realWorld = () =>
  issuingHarness('live', {
    signer: createDocumentSigner(),
    identityOf: async () => identity,
    authorizer: fakeAuthorizer(),
  });

/** The leaf that a signed document names. */
const namedIn = (document: Buffer): string => signedParts(document.toString('utf8'))?.certificate ?? 'none';

/** Content and Id of the signed element, independent of the signer. */
const contentOf = (document: Buffer): string => signedParts(document.toString('utf8'))?.unsigned ?? '';

/** A company whose certificate is renewed while one of its documents waits to be sent again. */
const renewedWorld = async () => {
  const [old, fresh] = ['VELHO', 'NOVO'].map((subjectName) =>
    issueCertificate({ subjectName, cnpj: DEMO_CNPJ, validDays: 365, now: T0 }),
  );
  if (old === undefined || fresh === undefined) throw new Error('two certificates were made');
  let current = old;
  const world = await issuingHarness('live', { signer: createDocumentSigner(), identityOf: async () => current });
  const { authorizer } = world;
  const { sendDps, sendCancellation } = authorizer;
  const attempted: Buffer[] = [];
  world.deps.authorizer = {
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
    world,
    attempted,
    ...{ oldLeaf: leafBase64(old.certificatePem), freshLeaf: leafBase64(fresh.certificatePem) },
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
    const { world, attempted, renew, oldLeaf, freshLeaf } = await renewedWorld();
    world.authorizer.script = [turn];
    await world.issue();
    renew();
    await world.issueToTheEnd();
    expect(await world.status()).toBe('issued');
    expect(attempted.map(namedIn)).toEqual([oldLeaf, freshLeaf]);
    expect(new Set(attempted.map(contentOf)).size).toBe(1);
    expect(recordedDocuments(await world.events())).toEqual(attempted.map(String));
    expect(verifySignature(attempted[1] ?? Buffer.alloc(0), 'infDPS')).toMatchObject({ ok: true });
    expect(world.authorizer.notes).toHaveLength(1);
  });

  it('signs the same request of a cancellation', async () => {
    const { world, attempted, renew, oldLeaf, freshLeaf } = await renewedWorld();
    await world.issueToTheEnd();
    const at = world.clock.now();
    await world.record({
      type: 'CancellationRequested',
      data: { request: 1, reason: 'other', description: 'Cancelamento pedido pelo cliente.', requestedAt: at },
    });
    attempted.length = 0;
    world.authorizer.script = ['certificate_refused'];
    await world.cancel();
    renew();
    await world.cancelToTheEnd();
    expect(await world.status()).toBe('canceled');
    expect(attempted.map(namedIn)).toEqual([oldLeaf, freshLeaf]);
    expect(new Set(attempted.map(contentOf)).size).toBe(1);
    expect(verifySignature(attempted[1] ?? Buffer.alloc(0), 'infPedReg')).toMatchObject({ ok: true });
  });

  it('changes no byte while the certificate is the same', async () => {
    const { world, attempted } = await renewedWorld();
    world.authorizer.script = ['not_sent', 'lost_request'];
    await world.issueToTheEnd();
    expect(await world.status()).toBe('issued');
    expect(attempted).toHaveLength(3);
    expect(new Set(attempted.map(String)).size).toBe(1);
  });
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
