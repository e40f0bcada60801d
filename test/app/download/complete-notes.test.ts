import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { completingNotes } from '../../../src/app/download/complete-notes.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { sha256Hex } from '../../../src/app/hashes.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { invoiceStream, type Mode } from '../../../src/domain/shared/ids.js';
import type { AuthorizedNote, LookupResult } from '../../../src/ports/authorizer.js';
import * as life from '../../domain/invoice/fixtures.js';
import { COMPANY } from '../../projections/histories.js';
import { emptyWorld } from '../audit/world.js';
import { appendTo, fixedKeys, generationOf } from '../support.js';

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
  found: { accessKey: KEY, xml } as AuthorizedNote,
});

type Case = { mode?: Mode; accessKey?: string; answer?: LookupResult<AuthorizedNote>; lost?: boolean };

/** What downloads read of an issued invoice, and what the authorizer was asked for it. */
const seen = async ({ mode = 'live', accessKey = KEY, answer = found(XML), lost = true }: Case) => {
  const { log, store } = emptyWorld();
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
  const completing = completingNotes(createEventStore(log, keys), { findByAccessKey });
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
