import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { storeWithFetchedNotes } from '../../../src/app/download/complete-notes.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { sha256Hex } from '../../../src/app/event-store/hashes.js';
import type { IssuerNotice } from '../../../src/app/issuing/deps.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import type { AuthorizedNote, LookupResult } from '../../../src/ports/authorizer.js';
import { COMPANY } from '../../support/fixture/histories.js';
import * as life from '../../support/fixture/invoice.js';
import { emptyAuditHarness } from '../../support/harness/audit.js';
import { appendTo, fixedKeys, generationOf } from '../../support/harness/event-store.js';

const ID = '11111111-1111-4111-8111-111111111111';
const KEY = `330455722${COMPANY}${'0'.repeat(26)}1`;
const XML = Buffer.from('<NFSe>olá</NFSe>');

const noted = (accessKey: string, xml: Buffer): InvoiceEvent => {
  const event = life.authorized(1, 2);
  if (event.type !== 'Authorized') throw new Error('another event than the name says');
  const nfseXmlGzip = gzipSync(xml).toString('base64');
  return { ...event, data: { ...event.data, accessKey, nfseSha256: sha256Hex(xml), nfseXmlGzip } };
};

const found = (xml: Buffer): LookupResult<AuthorizedNote> => ({
  kind: 'found',
  found: { accessKey: KEY, xml, content: { amount: '' } } as AuthorizedNote,
});

type Case = { mode?: Mode; accessKey?: string; answer?: LookupResult<AuthorizedNote>; lost?: boolean };

/** What downloads read of an issued invoice, and what the authorizer was asked for it. */
const seen = async ({ mode = 'live', accessKey = KEY, answer = found(XML), lost = true }: Case) => {
  const { log, store } = emptyAuditHarness();
  const stream = invoiceStream(mode, COMPANY, ID);
  const accepted = life.accepted({ mode, companyId: COMPANY, invoiceId: ID });
  await appendTo(store, stream, [accepted, life.attempted(1, 1), noted(accessKey, XML)], life.T0);
  const keys = fixedKeys();
  if (lost) keys.destroy(generationOf[mode]);
  const asked: string[] = [];
  const findByAccessKey = async (_caller: unknown, key: string) => {
    asked.push(key);
    return answer;
  };
  const completing = storeWithFetchedNotes(createEventStore(log, keys), { findByAccessKey }, () => undefined);
  const gzips: (string | undefined)[] = [];
  for (const _time of [1, 2]) {
    const { events } = await completing.load<InvoiceEvent>(stream);
    gzips.push(events.map((event) => (event.type === 'Authorized' ? event.data.nfseXmlGzip : undefined)).at(-1));
  }
  return { asked, xml: gzips.map((gzip) => gzip && gunzipSync(Buffer.from(gzip, 'base64')).toString()) };
};

describe('the note of an issued invoice whose key was lost', () => {
  it('is asked from the authorizer by its access key, once', async () => {
    expect(await seen({})).toEqual({ asked: [KEY], xml: [XML.toString(), XML.toString()] });
  });

  it('is not given out when it is not the very bytes whose hash the log has', async () => {
    expect((await seen({ answer: found(Buffer.from('<NFSe>ola</NFSe>')) })).xml).toEqual([undefined, undefined]);
  });

  it.each([{ kind: 'absent' }, { kind: 'inconclusive', reason: 'no certificate' }] as const)(
    'is not there while the authorizer answers $kind, and is asked for again',
    async (answer) => {
      expect(await seen({ answer })).toEqual({ asked: [KEY, KEY], xml: [undefined, undefined] });
    },
  );

  it('is not asked for while the log opens it, of another company, or in test mode, where it was erased', async () => {
    expect((await seen({ lost: false })).asked).toEqual([]);
    expect((await seen({ accessKey: KEY.replace(COMPANY, '98765432000198') })).asked).toEqual([]);
    expect(await seen({ mode: 'test' })).toEqual({ asked: [], xml: [undefined, undefined] });
  });
});

describe('the note of an invoice that was recorded without it', () => {
  const clean = {
    accessKey: KEY,
    xml: XML,
    mode: 'live' as const,
    provider: COMPANY,
    digest: 'of another program',
    content: { amount: '51.60', description: '', customerDocument: '' },
  };

  /** What two downloads read of an import of R$ 51,60 while the authorizer gives these notes, one after the other. */
  const downloads = (...notes: readonly object[]) => {
    const data = { companyId: COMPANY, invoiceId: ID, accessKey: KEY, amountInCents: 5_160 };
    return downloadsOf([life.imported(data)], 'live', notes);
  };

  const downloadsOf = async (events: readonly InvoiceEvent[], mode: Mode, notes: readonly object[], lost = false) => {
    const { log, store } = emptyAuditHarness();
    const keys = fixedKeys();
    if (lost) keys.destroy(generationOf[mode]);
    const stream = invoiceStream(mode, COMPANY, ID);
    await appendTo(store, stream, events, life.T0);
    const notices: IssuerNotice[] = [];
    let asked = 0;
    const findByAccessKey = async () => {
      asked += 1;
      return { kind: 'found' as const, found: { ...clean, ...notes[asked - 1] } as AuthorizedNote };
    };
    const authorizer = { findByAccessKey };
    const completing = storeWithFetchedNotes(createEventStore(log, keys), authorizer, (one) => {
      notices.push(one);
    });
    const has: boolean[] = [];
    for (const _time of [1, 2]) {
      const { events } = await completing.load<InvoiceEvent>(stream);
      has.push(events.some(({ data: of }) => 'nfseXmlGzip' in of && of.nfseXmlGzip !== undefined));
    }
    return { has, asked, notices: notices.map(({ kind, detail, stream: of }) => [kind, detail, of === stream]) };
  };

  it('is asked for once when it fits the invoice', async () => {
    expect(await downloads({}, {})).toEqual({ has: [true, true], asked: 1, notices: [] });
  });

  const ours = { dpsId: life.DPS_ID, digest: 'digest' };

  /** An invoice whose note was recorded without bytes and hash; `settled` by support. */
  const inflated = (mode: Mode, { attempt = {}, settled = false, attemptLost = false } = {}): InvoiceEvent[] => {
    const facts = { mode, companyId: COMPANY, invoiceId: ID, amountInCents: 5_160 };
    const { nfseXmlGzip: _xml, nfseSha256: _hash, ...data } = life.authorizedData(1, 2);
    const { type, data: sent } = life.attempted(1, 1);
    const { nfseNumber, authorizedAt, at } = data;
    const noted: InvoiceEvent = settled
      ? {
          type: 'IndeterminateResolved',
          data: { as: 'issued', accessKey: KEY, nfseNumber, authorizedAt, evidence: 'seen', at },
        }
      : { type: 'Authorized', data: { ...data, accessKey: KEY, ...(attemptLost ? { attemptLost } : {}) } };
    return [
      life.accepted(facts),
      { type, data: { ...sent, ...attempt } },
      ...(settled ? [life.interrupted] : []),
      noted,
    ];
  };

  it.each<Mode>(['live', 'test'])(
    'is asked for when an inflated note was recorded without its bytes, in %s mode too',
    async (mode) => {
      const note = { ...ours, mode };
      const events = inflated(mode);
      expect(await downloadsOf(events, mode, [note, note])).toMatchObject({ has: [true, true], notices: [] });
      const altered = [{ ...note, content: { ...clean.content, amount: '1.00' } }, note];
      expect(await downloadsOf(events, mode, altered)).toMatchObject({ has: [false, true] });
    },
  );

  it.each([
    ['embeds another DPS under our DPS id', { digest: 'of another sale' }],
    ['names another DPS id, by which nothing was sent', { dpsId: life.DPS_ID.replace(/7$/, '8') }],
    ['contradicts its own signature', { digest: '', contradiction: { claimed: 'digest', computed: 'x' } }],
  ])('is not given out, with a notice, when the note of an attempt of ours %s', async (_what, wrong) => {
    const notes = [{ ...ours, ...wrong }, ours];
    const refused = { has: [false, true], asked: 2, notices: [['document_altered', 'content', true]] };
    expect(await downloadsOf(inflated('live'), 'live', notes)).toEqual(refused);
    expect(await downloadsOf(inflated('live', { settled: true }), 'live', notes)).toEqual(refused);
  });

  it('is compared by its signature mark where the key of our digest is gone, and given out where there is no mark', async () => {
    const marked = inflated('live', { attempt: { signatureMark: 'mark' } });
    const notes = [
      { ...ours, signatureMark: 'of another sale' },
      { ...ours, signatureMark: 'mark' },
    ];
    expect(await downloadsOf(marked, 'live', notes, true)).toMatchObject({ has: [false, true] });
    const unknown = { ...ours, digest: 'of what nobody knows' };
    const bare = inflated('live', { settled: true });
    expect(await downloadsOf(bare, 'live', [unknown], true)).toMatchObject({ has: [true, true], notices: [] });
  });

  it('is given out as an imported one where the log has lost the attempt', async () => {
    const events = inflated('live', { attemptLost: true });
    expect(await downloadsOf(events, 'live', [{}])).toMatchObject({ has: [true, true], notices: [] });
  });

  it('is given out as an imported one where support settled with the note that the invoice met under its number', async () => {
    const settled = inflated('live', { settled: true });
    const metNote = (sameContent: boolean): InvoiceEvent[] => {
      const { type, data } = life.conflictFound(1, 2, sameContent);
      return [...settled.slice(0, 2), { type, data: { ...data, accessKey: KEY } } as InvoiceEvent, ...settled.slice(2)];
    };
    const note = { ...ours, digest: 'of the lost attempt' };
    expect(await downloadsOf(metNote(true), 'live', [note])).toMatchObject({ has: [true, true], notices: [] });
    expect(await downloadsOf(metNote(false), 'live', [note, note])).toMatchObject({ has: [false, false] });
  });

  it('is given out when the DPS inside is signed by an algorithm that this program does not know, or not at all', async () => {
    const contradiction = { claimed: '', computed: 'x' };
    expect(await downloads({ digest: '', contradiction })).toMatchObject({ has: [true, true], notices: [] });
  });

  it.each([
    ['of no valid signature', { signatureFault: 'digest' }, 'signature_unverified', 'digest'],
    ['of the other environment', { mode: 'test' }, 'document_altered', 'environment'],
    ['of an unknown environment', { mode: undefined }, 'document_altered', 'environment'],
    ['of another provider', { provider: '98765432000198' }, 'document_altered', 'provider'],
    ['of another amount', { content: { ...clean.content, amount: '999999.00' } }, 'document_altered', 'amount'],
  ])('is not given out, with a notice, and asked for again: a note %s', async (_what, wrong, kind, detail) => {
    expect(await downloads(wrong, {})).toEqual({ has: [false, true], asked: 2, notices: [[kind, detail, true]] });
  });
});

describe('the questions for notes that the log lacks', () => {
  /** An authorizer that answers when the test says so. */
  const createHarness = async () => {
    const { log, store } = emptyAuditHarness();
    const keys = fixedKeys();
    const asked: string[] = [];
    const waiting: (() => void)[] = [];
    const findByAccessKey = async (_caller: unknown, key: string) => {
      asked.push(key);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { kind: 'absent' as const };
    };
    const completing = storeWithFetchedNotes(createEventStore(log, keys), { findByAccessKey }, () => undefined);
    const noteOf = async (companyId: string, index: number) => {
      const invoiceId = `${String(index).padStart(8, '0')}-1111-4111-8111-111111111111`;
      const stream = invoiceStream('live', companyId, invoiceId);
      const accessKey = `330455722${companyId}${String(index).padStart(27, '0')}`;
      const accepted = life.accepted({ mode: 'live', companyId, invoiceId });
      await appendTo(store, stream, [accepted, life.attempted(1, 1), noted(accessKey, XML)], life.T0);
      return { stream, accessKey };
    };
    const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
    const answerAll = async (): Promise<void> => {
      for (await settle(); waiting.length > 0; await settle()) for (const answer of waiting.splice(0)) answer();
    };
    return { completing, noteOf, asked, answerAll, settle, keys };
  };

  it('are few of one company at a time, so that another’s is asked at once; one too many is refused', async () => {
    const { completing, noteOf, asked, answerAll, settle, keys } = await createHarness();
    const OTHER = '98765432000198';
    const flood = await Promise.all(Array.from({ length: 40 }, (_, index) => noteOf(COMPANY, index)));
    const other = await noteOf(OTHER, 50);
    keys.destroy(generationOf.live);
    const loading = flood.map(({ stream }) =>
      completing.load(stream).then(
        () => 'answered',
        () => 'refused',
      ),
    );
    await settle();
    const answered = completing.load(other.stream);
    await settle();
    expect(asked).toHaveLength(3);
    expect(asked).toContain(other.accessKey);
    await answerAll();
    await answered;
    const ends = await Promise.all(loading);
    expect(ends.filter((end) => end === 'refused')).toHaveLength(6);
  });

  it('are one for all who want the same note', async () => {
    const { completing, noteOf, asked, answerAll, keys } = await createHarness();
    const { stream, accessKey } = await noteOf(COMPANY, 1);
    keys.destroy(generationOf.live);
    const loading = Promise.all([1, 2, 3].map(() => completing.load(stream)));
    await answerAll();
    await loading;
    expect(asked).toEqual([accessKey]);
  });
});
