import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFindings } from '../../../src/app/audit/finding.js';
import { verifyDocuments } from '../../../src/app/audit/verify-documents.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { EventLog } from '../../../src/ports/event-log.js';
import { textsOf } from '../../../src/xml/document.js';
import { embeddedDigest } from '../../../src/xml/received.js';
import { signDocument } from '../../../src/xml/sign.js';
import { verifyIndependently } from '../../../src/xml/verify-independently.js';
import * as life from '../../support/fixture/invoice.js';
import {
  accessKey,
  dpsId,
  eventAround,
  noteAround,
  signedDocuments,
  unsignedDps,
} from '../../support/fixture/xml-documents.js';
import { type AuditHarness, emptyAuditHarness } from '../../support/harness/audit.js';
import { appendTo, fixedKeys, generationOf } from '../../support/harness/event-store.js';

const identity = issueCertificate({ subjectName: 'EMPRESA', validDays: 1, now: life.T0 });
const documents = signedDocuments(identity);
const packed = (xml: Buffer): string => gzipSync(xml).toString('base64');
const sha256 = (xml: Buffer): string => createHash('sha256').update(xml).digest('hex');
const digestOf = (xml: Buffer, signedElement: string): string => {
  const opinion = verifyIndependently(xml, signedElement);
  return opinion.holds ? opinion.digest : '';
};

/** What the clear fields of the events say as the documents do. */
const competence = '2026-09-15';
const issued = { nfseNumber: '1467', authorizedAt: '2026-09-15T13:32:37.000Z' };
const canceledAt = '2026-03-04T16:34:50.000Z';

type Changes = Partial<{
  accepted: Parameters<typeof life.accepted>[0];
  attempted: object;
  authorized: object;
  cancelAttempted: object;
  confirmed: object;
}>;

const changed = (event: InvoiceEvent, own: object, by: object = {}): InvoiceEvent =>
  ({ ...event, data: { ...event.data, ...own, ...by } }) as InvoiceEvent;

/** An invoice from its DPS to its registered cancellation, every document a signed one, but for the changes. */
const documented = ({
  accepted,
  attempted,
  authorized,
  cancelAttempted,
  confirmed,
}: Changes = {}): readonly InvoiceEvent[] => [
  life.accepted({ competence, ...accepted }),
  changed(
    life.attempted(1, 1),
    { dpsId, digest: digestOf(documents.DPS, 'infDPS'), signedDpsGzip: packed(documents.DPS) },
    attempted,
  ),
  changed(
    life.authorized(1, 2),
    { ...issued, accessKey, nfseXmlGzip: packed(documents.NFSe), nfseSha256: sha256(documents.NFSe) },
    authorized,
  ),
  life.cancelRequested(3),
  changed(
    life.cancelAttempted(1, 4),
    {
      requestId: `PRE${accessKey}101101`,
      digest: digestOf(documents.pedRegEvento, 'infPedReg'),
      signedRequestGzip: packed(documents.pedRegEvento),
    },
    cancelAttempted,
  ),
  changed(
    life.cancelConfirmed(5),
    { canceledAt, eventXmlGzip: packed(documents.evento), eventSha256: sha256(documents.evento) },
    confirmed,
  ),
];

const otherNote = Buffer.from(documents.NFSe.toString('utf8').replace('<cStat>100<', '<cStat>101<'), 'utf8');
const unsignedNote = Buffer.from(
  documents.NFSe.toString('utf8').replace(/<\/infNFSe>.*(?=<\/NFSe>)/, '</infNFSe>'),
  'utf8',
);

const wellSigned = (unsigned: string, signedElementName: string, id: string): Buffer =>
  signDocument(unsigned, { ...identity, signedElementName, id, algorithm: 'exc-c14n-with-comments' }).bytes;

/** A document signed by the authorizer around a document that is not ours, whose signature has an unknown algorithm. */
const noteOfAnother = wellSigned(
  noteAround(documents.DPS.toString('utf8').replace('>1500.00<', '>0.01<').replace('xmlenc#sha256', 'xmlenc#mine')),
  'infNFSe',
  `NFS${accessKey}`,
);
const eventOfAnother = wellSigned(
  eventAround(documents.pedRegEvento.toString('utf8').replace('<cMotivo>1<', '<cMotivo>2<')),
  'infEvento',
  `EVT${accessKey}101101001`,
);

const eventOn = (key: string, type: string): Buffer =>
  wellSigned(
    eventAround(documents.pedRegEvento.toString('utf8')).replaceAll(`${accessKey}101101`, `${key}${type}`),
    'infEvento',
    `EVT${key}${type}001`,
  );

const stored = (xml: Buffer) => ({ eventXmlGzip: packed(xml), eventSha256: sha256(xml) });

let harness: AuditHarness;
beforeEach(() => {
  harness = emptyAuditHarness();
});

const record = (events: readonly InvoiceEvent[], mode: 'live' | 'test' = 'live') =>
  appendTo(harness.store, harness.streamOf(1, mode), events, life.T0);

const verified = async (log: EventLog = harness.log, keys = fixedKeys()) => {
  const findings = createFindings();
  const count = await verifyDocuments({ log, keys, oracle: verifyIndependently, embeddedDigest, textsOf }, findings);
  return { ...count, findings: findings.kept };
};

describe('the documents of a log', () => {
  it('are opened, each kind of them, and nothing is found when they are what was signed', async () => {
    await record(documented());
    expect(await verified()).toEqual({ checked: 4, sealed: 0, findings: [] });
  });

  const faults: readonly (readonly [what: string, changes: Changes, revision: number, detail: string])[] = [
    ['an NFS-e that was changed', { authorized: { nfseXmlGzip: packed(otherNote) } }, 2, 'not the one whose SHA-256'],
    [
      'an NFS-e that was changed, its SHA-256 too',
      { authorized: { nfseXmlGzip: packed(otherNote), nfseSha256: sha256(otherNote) } },
      2,
      'the signature of the NFS-e: does not hold',
    ],
    [
      'an NFS-e without a signature',
      { authorized: { nfseXmlGzip: packed(unsignedNote), nfseSha256: sha256(unsignedNote) } },
      2,
      'the signature of the NFS-e: none',
    ],
    [
      'a well signed NFS-e around another DPS',
      { authorized: { nfseXmlGzip: packed(noteOfAnother), nfseSha256: sha256(noteOfAnother) } },
      2,
      'the NFS-e holds another document than was sent',
    ],
    [
      'a well signed event around another request',
      { confirmed: { eventXmlGzip: packed(eventOfAnother), eventSha256: sha256(eventOfAnother) } },
      5,
      'the evento holds another document than was sent',
    ],
    ['a DPS of another digest', { attempted: { digest: 'AAAA' } }, 1, 'another digest'],
    ['a DPS that is no gzip', { attempted: { signedDpsGzip: 'AAAA' } }, 1, 'cannot be unpacked'],
    ['an NFS-e in the place of a DPS', { attempted: { signedDpsGzip: packed(documents.NFSe) } }, 1, 'another element'],
    ['the request of another note', { cancelAttempted: { requestId: `PRE${'4'.repeat(50)}101101` } }, 4, 'another Id'],
    ['an event that was changed', { confirmed: { eventSha256: 'b'.repeat(64) } }, 5, 'not the one whose SHA-256'],
  ];

  it.each(faults)('are found when there is %s', async (_what, changes, revision, detail) => {
    await record(documented(changes));
    const { checked, findings } = await verified();
    expect(checked).toBe(4);
    expect(findings).toMatchObject([{ kind: 'document', stream: harness.streamOf(1), revision }]);
    expect(findings[0]?.detail).toContain(detail);
  });

  const DPS_AND_NOTE = [1, 2];
  it.each<[what: string, changes: Changes, found: readonly number[], detail: string]>([
    ['amount', { accepted: { amountInCents: 100 } }, DPS_AND_NOTE, 'another amount than was accepted'],
    ['competence', { accepted: { competence: '2026-09-16' } }, DPS_AND_NOTE, 'another competence than'],
    [
      'service',
      { accepted: { line: { cnae: '6201501', serviceCode: '010401' } } },
      DPS_AND_NOTE,
      'another service than',
    ],
    ['provider', { accepted: { companyId: '11222333000181' } }, DPS_AND_NOTE, 'another provider than'],
    [
      'customer',
      { accepted: { customer: { type: 'br', document: '11144477735' } } },
      DPS_AND_NOTE,
      'another document of',
    ],
    [
      'amount in foreign currency and service',
      {
        accepted: {
          foreignAmount: { currency: 'USD', amountInCents: 5 },
          line: { cnae: '6201501', serviceCode: '010401' },
        },
      },
      DPS_AND_NOTE,
      'another amount in foreign currency and another service than was accepted',
    ],
    ['number of the note', { authorized: { nfseNumber: '77' } }, [2], 'the NFS-e has another number than was recorded'],
    ['instant of the note', { authorized: { authorizedAt: life.at(9) } }, [2], 'the NFS-e has another instant than'],
    ['instant of the cancellation', { confirmed: { canceledAt: life.at(9) } }, [5], 'the evento has another instant'],
  ])('are found when the log says another %s in clear', async (_what, changes, revisions, detail) => {
    await record(documented(changes));
    const { findings } = await verified();
    expect(findings.map(({ kind, revision }) => [kind, revision])).toEqual(revisions.map((one) => ['document', one]));
    for (const finding of findings) expect(finding.detail).toContain(detail);
  });

  it('are found when the acceptance lost its customer', async () => {
    const [accepted, ...later] = documented();
    if (accepted?.type !== 'InvoiceAccepted') throw new Error('nothing was accepted');
    const { customer: _customer, ...data } = accepted.data;
    await record([{ type: 'InvoiceAccepted', data }, ...later]);
    expect((await verified()).findings).toMatchObject([
      { revision: 1, detail: 'the DPS has another document of the customer than was accepted' },
      { revision: 2, detail: 'the NFS-e has another document of the customer than was accepted' },
    ]);
  });

  it('are not compared with a customer that cannot be opened', async () => {
    await record(documented({ accepted: { customer: { type: 'br', document: '11144477735' } } }));
    const stored = await harness.all();
    const events = stored.map((event) =>
      event.type === 'InvoiceAccepted'
        ? { ...event, data: { ...event.data, customer: String(event.data.customer).replace(':m1:', ':m2:') } }
        : event,
    );
    const keys = fixedKeys();
    keys.destroy('m2');
    const readAll: EventLog['readAll'] = async ({ after }) => (after === null ? events : []);
    expect((await verified({ ...harness.log, readAll }, keys)).findings).toEqual([]);
  });

  it('are found when there is the note of another invoice, whose cancellation names that other note', async () => {
    await record(documented({ authorized: { accessKey: '4'.repeat(50) } }));
    expect((await verified()).findings).toMatchObject([
      { revision: 2, detail: 'the NFS-e has another Id than was recorded' },
      { revision: 5, detail: NO_SUCH_EVENT },
    ]);
  });

  const settledWith = (xml: Buffer): InvoiceEvent => ({
    type: 'IndeterminateResolved',
    data: {
      as: 'issued',
      evidence: 'portal',
      at: life.at(90_000),
      ...issued,
      accessKey,
      nfseXmlGzip: packed(xml),
      nfseSha256: sha256(xml),
    },
  });

  it('are found when support settled with a well signed NFS-e around another DPS', async () => {
    const [first, attempt] = documented();
    if (first === undefined || attempt === undefined) throw new Error('no attempt');
    const open = [first, attempt, life.unknown(1, 3), life.interrupted];
    await record([...open, settledWith(documents.NFSe)]);
    expect(await verified()).toEqual({ checked: 2, sealed: 0, findings: [] });
    await appendTo(harness.store, harness.streamOf(2), [...open, settledWith(noteOfAnother)], life.T0);
    expect((await verified()).findings).toMatchObject([
      { stream: harness.streamOf(2), revision: 4, detail: 'the NFS-e holds another document than was sent' },
    ]);
  });

  it('are not compared where support settled with the note of an attempt that the log has lost', async () => {
    const [first, attempt] = documented();
    if (first === undefined || attempt === undefined) throw new Error('no attempt');
    const { type, data } = settledWith(noteOfAnother);
    const settled = { type, data: { ...data, attemptLost: true } } as InvoiceEvent;
    await record([first, attempt, life.unknown(1, 3), life.interrupted, settled]);
    expect((await verified()).findings).toEqual([]);
  });

  it.each([true, false])(
    'are found where support settled with a note that the invoice had met, unless with its content: %s',
    async (sameContent) => {
      const [first, attempt] = documented();
      if (first === undefined || attempt === undefined) throw new Error('no attempt');
      const { type, data } = life.conflictFound(1, 3, sameContent);
      const met = (key: string) => ({ type, data: { ...data, accessKey: key, dpsId } }) as InvoiceEvent;
      await record([first, attempt, met(accessKey), life.interrupted, settledWith(noteOfAnother)]);
      const another = { revision: 4, detail: 'the NFS-e holds another document than was sent' };
      expect((await verified()).findings).toMatchObject(sameContent ? [] : [another]);
      const stream = harness.streamOf(2);
      const other = [first, attempt, met('4'.repeat(50)), life.interrupted, settledWith(noteOfAnother)];
      await appendTo(harness.store, stream, other, life.T0);
      expect((await verified()).findings).toContainEqual(expect.objectContaining({ ...another, stream }));
    },
  );

  it('are not compared where support settled and the document of an attempt cannot be opened', async () => {
    const [first, attempt] = documented({ attempted: { signedDpsGzip: 'AAAA' } });
    if (first === undefined || attempt === undefined) throw new Error('no attempt');
    await record([first, attempt, life.unknown(1, 3), life.interrupted, settledWith(noteOfAnother)]);
    expect((await verified()).findings).toMatchObject([{ revision: 1, detail: 'the DPS cannot be unpacked' }]);
  });

  it('are not compared where the log has lost the send of the confirmed request, which followed one that was sent', async () => {
    const confirmed = documented({ confirmed: stored(eventOfAnother) });
    const notConfirmed = life.cancelNotConfirmed(5);
    const again = life.cancelRequested(6, 2);
    await record([...confirmed.slice(0, -1), notConfirmed, again, ...confirmed.slice(-1)]);
    expect(await verified()).toEqual({ checked: 4, sealed: 0, findings: [] });

    const sentAgain = confirmed.slice(4, 5).map((sent) => changed(sent, { request: 2, attempt: 2 }));
    const resent = [...confirmed.slice(0, -1), notConfirmed, again, ...sentAgain, ...confirmed.slice(-1)];
    await appendTo(harness.store, harness.streamOf(2), resent, life.T0);
    const detail = 'the evento holds another document than was sent';
    expect((await verified()).findings).toMatchObject([{ stream: harness.streamOf(2), revision: 8, detail }]);
  });

  const NO_SUCH_EVENT = 'the evento is no event that cancels the note of the invoice';
  const ofOtherNote = eventOn('4'.repeat(50), '101101');
  const thatCancelsNothing = eventOn(accessKey, '101103');
  const ownEvent = documents.evento;
  const elsewhere = (xml: Buffer, of: object = {}): InvoiceEvent => ({
    type: 'NoteCanceledElsewhere',
    data: {
      accessKey,
      eventType: '101101' as const,
      canceledAt,
      at: life.at(9),
      ...stored(xml),
      ...of,
    },
  });
  const bySupport = (xml: Buffer): InvoiceEvent => ({
    type: 'CancellationSettledBySupport',
    data: { evidence: 'portal', canceledAt, at: life.at(9), ...stored(xml) },
  });

  it.each([
    ['elsewhere, by an event on this note', elsewhere(ownEvent), undefined],
    ['elsewhere, by an event of another content', elsewhere(eventOfAnother), undefined],
    ['elsewhere, by an event on another note', elsewhere(ofOtherNote), NO_SUCH_EVENT],
    ['elsewhere, by an event of another type', elsewhere(ownEvent, { eventType: '105102' }), NO_SUCH_EVENT],
    ['elsewhere, by an event that cancels nothing', elsewhere(thatCancelsNothing), NO_SUCH_EVENT],
    ['by support, with an event on this note', bySupport(eventOfAnother), undefined],
    ['by support, with an event on another note', bySupport(ofOtherNote), NO_SUCH_EVENT],
    ['by support, with an event that cancels nothing', bySupport(thatCancelsNothing), NO_SUCH_EVENT],
  ])('must be an event that cancels the note, where that was canceled %s', async (_how, canceled, detail) => {
    await record([...documented().slice(0, 3), canceled]);
    expect((await verified()).findings.map((finding) => finding.detail)).toEqual(detail === undefined ? [] : [detail]);
  });

  it('must be an event on the note that was imported', async () => {
    await record([life.imported({ accessKey: '4'.repeat(50) }), elsewhere(ownEvent, { accessKey: '4'.repeat(50) })]);
    expect((await verified()).findings).toMatchObject([{ revision: 1, detail: NO_SUCH_EVENT }]);
  });

  it('are found when a further attempt under the same DPS id says something else', async () => {
    const otherDps = signDocument(unsignedDps.replace('1500.00', '0.01'), {
      ...identity,
      signedElementName: 'infDPS',
      id: dpsId,
      algorithm: 'c14n',
    }).bytes;
    const attempt = (number: number, dps: Buffer): InvoiceEvent =>
      changed(life.attempted(number, number), {
        dpsId,
        digest: digestOf(dps, 'infDPS'),
        signedDpsGzip: packed(dps),
      });
    await record([
      life.accepted({ competence }),
      attempt(1, documents.DPS),
      life.notSent(1, 1),
      attempt(2, documents.DPS),
    ]);
    expect(await verified()).toEqual({ checked: 2, sealed: 0, findings: [] });
    await record([life.notSent(2, 2), attempt(3, otherDps)]);
    const { findings } = await verified();
    expect(findings).toMatchObject([{ kind: 'document', revision: 5, detail: expect.stringContaining('another DPS') }]);
  });

  it('are found when their sealed text was changed', async () => {
    await record(documented());
    const stored = await harness.all();
    const events = stored.map((event) =>
      event.type === 'Authorized'
        ? { ...event, data: { ...event.data, nfseXmlGzip: String(event.data.nfseXmlGzip).replace(/.{4}$/, 'AAAA') } }
        : event,
    );
    const readAll: EventLog['readAll'] = async ({ after }) => (after === null ? events : []);
    const { findings } = await verified({ ...harness.log, readAll });
    expect(findings).toMatchObject([
      { kind: 'sealing', revision: 2, detail: expect.stringContaining('field nfseXmlGzip cannot be opened') },
    ]);
  });

  it('are counted and left where their key was destroyed', async () => {
    await record(documented(), 'test');
    const keys = fixedKeys();
    keys.destroy(generationOf.test);
    expect(await verified(harness.log, keys)).toEqual({ checked: 0, sealed: 4, findings: [] });
  });

  it('may be unsigned where a note was imported, and must be the note that was imported', async () => {
    const note = { accessKey, nfseXmlGzip: packed(unsignedNote), nfseSha256: sha256(unsignedNote) };
    await record([life.imported(note)]);
    expect(await verified()).toEqual({ checked: 1, sealed: 0, findings: [] });
    await appendTo(
      harness.store,
      harness.streamOf(2),
      [life.imported({ ...note, nfseXmlGzip: packed(otherNote) })],
      life.T0,
    );
    expect((await verified()).findings).toMatchObject([{ kind: 'document', stream: harness.streamOf(2) }]);
  });

  it('are none in an imported invoice without its XML', async () => {
    await record([life.imported()]);
    expect(await verified()).toMatchObject({ checked: 0, sealed: 0 });
  });
});
