import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createDrawnPdfs, type DownloadDeps, downloadPdf, fairStore } from '../../../src/app/download/download.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { createInvoiceReader } from '../../../src/app/read/invoice-reader.js';
import { invoiceStream, type Mode } from '../../../src/domain/common/ids.js';
import { addSeconds } from '../../../src/domain/common/time.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';
import type { PdfMarks } from '../../../src/ports/pdf.js';
import { isSimulatorsNote } from '../../../src/runtime/engines/simulator-notes.js';
import { createTurns } from '../../../src/runtime/roles/turns.js';
import * as life from '../../support/fixture/invoice.js';
import { noteSignedBy } from '../../support/fixture/signed-notes.js';
import { emptyAuditHarness } from '../../support/harness/audit.js';
import { appendTo, fixedKeys } from '../../support/harness/event-store.js';

const ID = '11111111-1111-4111-8111-111111111111';
const address = { mode: 'live', companyId: '12345678000195', invoiceId: ID } as const;

const WEEK = 604_800;

const depsWith = (pdf: DownloadDeps['pdf']) => {
  const loaded: string[] = [];
  const store = {
    load: async (stream: string) => {
      loaded.push(stream);
      return { events: [], version: { kind: 'none' } };
    },
  } as unknown as EventStore;
  const clock = { now: () => '2026-11-22T12:00:00.000Z' as const };
  const known = { drawn: createDrawnPdfs(clock), hashOf: async () => undefined };
  return {
    loaded,
    deps: { store, clock, pdf, testRetentionSeconds: 604_800, isSimulatorsNote: () => false, ...known },
  };
};

describe('the PDF of an invoice', () => {
  it('is refused before anything is read, when too many of the company wait', async () => {
    const { loaded, deps } = depsWith({
      enter: () => {
        throw new TooManyWaiting('documents to be drawn');
      },
      close: async () => {},
    });
    await expect(downloadPdf(address, deps)).rejects.toBeInstanceOf(TooManyWaiting);
    expect(loaded).toEqual([]);
  });

  it('takes a place of its company, which it gives back also when there is no note', async () => {
    const places: string[] = [];
    const { deps } = depsWith({
      enter: (companyId) => {
        places.push(companyId);
        return { render: () => Promise.reject(new Error('nothing to draw')), leave: () => void places.pop() };
      },
      close: async () => {},
    });
    const asked = downloadPdf(address, deps);
    expect(places).toEqual([address.companyId]);
    expect(await asked).toEqual({ refused: { code: 'not_found' } });
    expect(places).toEqual([]);
  });
});

describe('a PDF that was drawn before', () => {
  /** An issued invoice in the log, and how often its events were read and its PDF drawn. */
  const issued = async (mode: Mode) => {
    const { log, store } = emptyAuditHarness();
    const stream = invoiceStream(mode, address.companyId, ID);
    const append = (events: readonly InvoiceEvent[]) => appendTo(store, stream, events, life.T0);
    const note = life.authorized(1, 2);
    if (note.type !== 'Authorized') throw new Error('another event than the name says');
    const nfseXmlGzip = gzipSync('<NFSe/>').toString('base64');
    const accepted = life.accepted({ mode, companyId: address.companyId, invoiceId: ID });
    await append([accepted, life.attempted(1, 1), { ...note, data: { ...note.data, nfseXmlGzip } }]);
    const counts = { read: 0, drawn: 0 };
    const state = { now: life.T0 };
    const clock = { now: () => state.now };
    const reading: EventStore = {
      ...store,
      load: (...args) => {
        counts.read += 1;
        return store.load(...args);
      },
    };
    const render = async () => {
      counts.drawn += 1;
      return Buffer.from(`drawing ${counts.drawn}`);
    };
    const readModel = { invoice: async () => undefined };
    const reader = createInvoiceReader({ store, log, readModel, keys: fixedKeys(), clock, testRetentionSeconds: WEEK });
    const deps = {
      store: reading,
      clock,
      testRetentionSeconds: WEEK,
      isSimulatorsNote: () => false,
      pdf: { enter: () => ({ render, leave: () => {} }), close: async () => {} },
      drawn: createDrawnPdfs(clock),
      hashOf: reader.hashOf,
    };
    const ask = async () => {
      const answer = await downloadPdf({ ...address, mode }, deps);
      return 'refused' in answer ? answer.refused.code : answer.bytes.toString();
    };
    return { append, counts, state, ask, drawn: deps.drawn };
  };

  it('is given again without a look at the events', async () => {
    const { ask, counts } = await issued('live');
    expect([await ask(), await ask()]).toEqual(['drawing 1', 'drawing 1']);
    expect(counts).toEqual({ read: 1, drawn: 1 });
  });

  it('is drawn again once something was appended to its invoice', async () => {
    const { ask, append, counts } = await issued('live');
    await ask();
    await append([life.cancelRequested(60)]);
    expect([await ask(), await ask()]).toEqual(['drawing 2', 'drawing 2']);
    expect(counts.drawn).toBe(2);
  });

  it('is drawn again where another event has its place in a log that was set back', async () => {
    const { ask, drawn } = await issued('live');
    const stream = invoiceStream('live', address.companyId, ID);
    await ask();
    const of = drawn.get(stream);
    drawn.set(stream, { bytes: Buffer.from('of a lost event'), hash: 'of a lost event', ends: of?.ends });
    expect(await ask()).toBe('drawing 2');
  });

  it('is gone when its test invoice has ended', async () => {
    const { ask, state } = await issued('test');
    await ask();
    state.now = addSeconds(life.T0, WEEK + 1);
    expect(await ask()).toBe('not_found');
  });

  it('leaves memory when its test invoice has ended, also when nobody asks for it any more', async () => {
    const { ask, drawn, state, counts } = await issued('test');
    await ask();
    state.now = addSeconds(life.T0, WEEK - 1);
    expect([drawn.evictExpired(), await ask(), counts.drawn]).toEqual([0, 'drawing 1', 1]);
    state.now = addSeconds(life.T0, WEEK);
    expect([drawn.evictExpired(), drawn.evictExpired()]).toEqual([1, 0]);
  });

  it('stays in memory when its invoice is live', async () => {
    const { ask, drawn, state } = await issued('live');
    await ask();
    state.now = addSeconds(life.T0, WEEK * 100);
    expect([drawn.evictExpired(), await ask()]).toEqual([0, 'drawing 1']);
  });
});

describe('SIMULADO on a PDF', () => {
  /** The marks with which the PDF of an invoice with this note is drawn. */
  const marksOf = async (mode: Mode, nfseXml: Buffer): Promise<readonly PdfMarks[]> => {
    const { store } = emptyAuditHarness();
    const note = life.authorized(1, 2);
    if (note.type !== 'Authorized') throw new Error('another event than the name says');
    const nfseXmlGzip = gzipSync(nfseXml).toString('base64');
    const accepted = life.accepted({ mode, companyId: address.companyId, invoiceId: ID });
    const events: InvoiceEvent[] = [accepted, life.attempted(1, 1), { ...note, data: { ...note.data, nfseXmlGzip } }];
    await appendTo(store, invoiceStream(mode, address.companyId, ID), events, life.T0);
    const seen: PdfMarks[] = [];
    const { deps } = depsWith({
      enter: () => ({
        render: async (_xml, marks) => {
          seen.push(marks);
          return Buffer.from('drawn');
        },
        leave: () => {},
      }),
      close: async () => {},
    });
    await downloadPdf({ ...address, mode }, { ...deps, store, isSimulatorsNote });
    return seen;
  };

  it('is on every live note that a simulator signed, and on no other, whatever answers in live mode today', async () => {
    const plain = { canceled: false, replaced: false, simulated: false };
    expect(await marksOf('live', noteSignedBy('simulator'))).toEqual([{ ...plain, simulated: true }]);
    expect(await marksOf('live', noteSignedBy('other'))).toEqual([plain]);
    expect(await marksOf('test', noteSignedBy('simulator'))).toEqual([plain]);
  });
});

describe('what downloads read from the log', () => {
  it('is read in turns by company: another’s is next, however many of one wait', async () => {
    const begun: string[] = [];
    const running: (() => void)[] = [];
    const load = async (stream: string) => {
      begun.push(stream.includes('98765432000198') ? 'other' : 'flooding');
      await new Promise<void>((resolve) => running.push(resolve));
      return { events: [], version: { kind: 'none' } };
    };
    const store = fairStore({ load } as unknown as EventStore, createTurns().downloads);
    const flood = Array.from({ length: 100 }, () => store.load(invoiceStream('live', '12345678000195', ID)));
    const other = store.load(invoiceStream('live', '98765432000198', ID));
    expect(begun.filter((owner) => owner === 'flooding').length).toBeLessThanOrEqual(2);
    expect(begun).toContain('other');
    while (begun.length < 101 || running.length > 0) {
      for (const end of running.splice(0)) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all([...flood, other]);
    expect(begun).toHaveLength(101);
  });
});
