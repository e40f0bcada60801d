import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createDocumentSigner } from '../../../src/adapters/authorizer/document-signer.js';
import { readNote } from '../../../src/adapters/authorizer/documents.js';
import { concludeCancellationIfDue } from '../../../src/app/issuing/cancellation.js';
import { concludeIssueIfDue } from '../../../src/app/issuing/note.js';
import { type SettleDeps, settleInvoice } from '../../../src/app/operator/settlement/settle-invoice.js';
import { adoptNote } from '../../../src/app/recovery/adopt-note.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import type { ReadInvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { Authorizer } from '../../../src/ports/authorizer.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { cancelRequested, T0 } from '../../support/fixture/invoice.js';
import { noteAround } from '../../support/fixture/sefin.js';
import { fakeAuthorizer, noteFor } from '../../support/harness/fake-authorizer.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

const HOUR = 3_600;

/** Comments that gzip cannot make smaller. With them a document fits into an answer, and not into an event. */
const JUNK = Buffer.from(Array.from({ length: 6 }, () => `<!--${randomBytes(40_000).toString('base64')}-->`).join(''));

const inflated = <Found extends { xml: Buffer }>(found: Found): Found => ({
  ...found,
  xml: Buffer.concat([found.xml, JUNK]),
});

/** A gateway that adds to every document of the authorizer. */
const inflating = (authorizer: Authorizer): Authorizer => ({
  ...authorizer,
  sendDps: async (...args) => {
    const answer = await authorizer.sendDps(...args);
    return answer.kind === 'done' ? { ...answer, result: inflated(answer.result) } : answer;
  },
  findByDps: async (...args) => {
    const answer = await authorizer.findByDps(...args);
    return answer.kind === 'found' ? { ...answer, found: inflated(answer.found) } : answer;
  },
  sendCancellation: async (...args) => {
    const answer = await authorizer.sendCancellation(...args);
    return answer.kind === 'done' ? { ...answer, result: inflated(answer.result) } : answer;
  },
  findCancellation: async (...args) => {
    const answer = await authorizer.findCancellation(...args);
    return answer.kind === 'found' ? { ...answer, found: inflated(answer.found) } : answer;
  },
});

const harnessBehindGateway = async (): Promise<IssuingHarness> => {
  const harness = await issuingHarness();
  harness.deps.authorizer = inflating(harness.deps.authorizer);
  return harness;
};

const lastOf = async (harness: IssuingHarness): Promise<ReadInvoiceEvent | undefined> =>
  (await harness.events()).at(-1);

const settle = (harness: IssuingHarness, as: 'issued' | 'canceled') => {
  const { store, authorizer, lookups, clock, limits } = harness.deps;
  const notify: SettleDeps['notify'] = async (notice) => harness.deps.notify(notice);
  const deps = {
    store,
    authorizer,
    lookups,
    clock,
    limits,
    notify,
    actor: 'support:maria',
    holdersOf: async () => [],
  } as const;
  return settleInvoice({ stream: harness.stream, as, evidence: 'portal' }, deps);
};

/** The notice says that something between this machine and the authorizer inflates documents. */
const expectNotice = (harness: IssuingHarness): void => {
  expect(harness.notices).toContainEqual({ kind: 'document_altered', stream: harness.stream, detail: 'size' });
};

const expectIssuedWithoutBytes = async (harness: IssuingHarness): Promise<void> => {
  expect(await harness.status()).toBe('issued');
  const { accessKey, nfseNumber, authorizedAt } = harness.authorizer.notes[0] ?? {};
  const event = await lastOf(harness);
  expect(event?.data).toMatchObject({ accessKey, nfseNumber, authorizedAt });
  expect(event?.data).not.toHaveProperty('nfseXmlGzip');
  expect(event?.data).not.toHaveProperty('nfseSha256');
};

describe('given a note that does not fit into an event', () => {
  it('when it answers the send, then the invoice is issued without its bytes', async () => {
    const harness = await harnessBehindGateway();
    expect(await harness.issue()).toEqual({ kind: 'done' });
    await expectIssuedWithoutBytes(harness);
    expectNotice(harness);
  });

  it('when a look-up shows it, then the invoice is issued without its bytes', async () => {
    const harness = await harnessBehindGateway();
    harness.authorizer.script = ['lost_answer'];
    await harness.issueToTheEnd();
    await expectIssuedWithoutBytes(harness);
    expectNotice(harness);
  });

  it('when only the last look-up shows it, then the invoice is issued, not indeterminate', async () => {
    const harness = await harnessBehindGateway();
    harness.authorizer.script = ['lost_answer'];
    await harness.issue();
    harness.clock.pass(HOUR + 60);
    await concludeIssueIfDue(harness.stream, harness.deps);
    await expectIssuedWithoutBytes(harness);
  });

  it('when support settles an indeterminate invoice by it, then the invoice is issued without its bytes', async () => {
    const harness = await harnessBehindGateway();
    Object.assign(harness.authorizer, { script: ['lost_answer'], mute: true });
    await harness.issue();
    harness.clock.pass(HOUR + 60);
    await concludeIssueIfDue(harness.stream, harness.deps);
    expect(await harness.status()).toBe('indeterminate');
    harness.authorizer.mute = false;
    expect(await settle(harness, 'issued')).toMatchObject({ kind: 'settled' });
    await expectIssuedWithoutBytes(harness);
    expectNotice(harness);
  });

  it('when log recovery adopts it, then the invoice is issued without its bytes', async () => {
    const harness = await issuingHarness();
    const note = noteFor(Buffer.from('<DPS Id="DPS1"/>'), 1);
    harness.authorizer.notes.push(note);
    const { store, clock } = harness.deps;
    const deps = { store, clock, actor: 'support:maria' as const };
    expect(await adoptNote(harness.stream, { note: inflated(note) }, deps)).toBe(true);
    await expectIssuedWithoutBytes(harness);
  });

  it('when the real reader took it, comments around the signed element and all, then the invoice is issued', async () => {
    const identity = issueCertificate({ subjectName: 'ESTUDIO', cnpj: DEMO_CNPJ, validDays: 365, now: T0 });
    const signer = createDocumentSigner();
    const harness = await issuingHarness('live', { signer, identityOf: async () => identity });
    const faults: (string | undefined)[] = [];
    harness.deps.authorizer = {
      ...fakeAuthorizer(),
      sendDps: async (_caller, bytes) => {
        const genuine = noteAround(bytes).toString('utf8');
        const note = readNote(gzipBase64(Buffer.from(genuine.replace('</NFSe>', `${JUNK}</NFSe>`))));
        if (note === undefined) throw new Error('the reader takes a note below 1 MiB');
        faults.push(note.signatureFault);
        harness.authorizer.notes.push(note);
        return { kind: 'done', result: note };
      },
    };
    await harness.issueToTheEnd();
    expect(faults).toEqual([undefined]);
    await expectIssuedWithoutBytes(harness);
  });
});

describe('given an event of the authorizer that does not fit into an event of the log', () => {
  const requested = async (): Promise<IssuingHarness> => {
    const harness = await harnessBehindGateway();
    await harness.issueToTheEnd();
    harness.notices.length = 0;
    harness.clock.pass(10);
    await harness.record(cancelRequested(10));
    return harness;
  };

  const expectCanceledWithoutBytes = async (harness: IssuingHarness, type: string): Promise<void> => {
    expect(await harness.status()).toBe('canceled');
    const event = await lastOf(harness);
    expect(event).toMatchObject({ type, data: { eventSha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
    expect(event?.data).not.toHaveProperty('eventXmlGzip');
    expectNotice(harness);
  };

  it('when it answers the request, then the cancellation is confirmed without its bytes', async () => {
    const harness = await requested();
    await harness.cancel();
    await expectCanceledWithoutBytes(harness, 'CancellationConfirmed');
  });

  it('when only the last look-up shows it, then the cancellation is confirmed, not failed', async () => {
    const harness = await requested();
    harness.authorizer.script = ['lost_answer'];
    await harness.cancel();
    harness.clock.pass(HOUR + 60);
    await concludeCancellationIfDue(harness.stream, harness.deps);
    await expectCanceledWithoutBytes(harness, 'CancellationConfirmed');
  });

  it('when it is of another party, then the note is canceled elsewhere without its bytes', async () => {
    const harness = await harnessBehindGateway();
    await harness.issueToTheEnd();
    harness.authorizer.events.push({
      xml: Buffer.from('<evento/>'),
      eventType: '105104',
      registeredAt: T0,
      requestId: 'PRE',
      digest: 'theirs',
    });
    expect(await settle(harness, 'canceled')).toMatchObject({ kind: 'settled' });
    await expectCanceledWithoutBytes(harness, 'NoteCanceledElsewhere');
  });

  it('when support settles a failed cancellation by it, then the note is canceled without its bytes', async () => {
    const harness = await requested();
    Object.assign(harness.authorizer, { script: ['lost_answer'], mute: true });
    await harness.cancel();
    harness.clock.pass(HOUR + 60);
    await concludeCancellationIfDue(harness.stream, harness.deps);
    harness.authorizer.mute = false;
    expect(await settle(harness, 'canceled')).toMatchObject({ kind: 'settled' });
    await expectCanceledWithoutBytes(harness, 'CancellationSettledBySupport');
  });
});
