import { describe, expect, it } from 'vitest';
import { type DownloadDeps, downloadPdf, fairStore } from '../../../src/app/download/download.js';
import type { EventStore } from '../../../src/app/event-store/event-store.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { TooManyWaiting } from '../../../src/lib/fair-semaphore.js';

const ID = '11111111-1111-4111-8111-111111111111';
const address = { mode: 'live', companyId: '12345678000195', invoiceId: ID } as const;

const depsWith = (pdf: DownloadDeps['pdf']) => {
  const loaded: string[] = [];
  const store = {
    load: async (stream: string) => {
      loaded.push(stream);
      return { events: [], version: { kind: 'none' } };
    },
  } as unknown as EventStore;
  const clock = { now: () => '2026-11-22T12:00:00.000Z' as const };
  return { loaded, deps: { store, clock, pdf, testRetentionSeconds: 604_800, isSimulated: () => false } };
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

describe('what downloads read from the log', () => {
  it('is read in turns by company: another`s is next, however many of one wait', async () => {
    const begun: string[] = [];
    const running: (() => void)[] = [];
    const load = async (stream: string) => {
      begun.push(stream.includes('98765432000198') ? 'other' : 'flooding');
      await new Promise<void>((resolve) => running.push(resolve));
      return { events: [], version: { kind: 'none' } };
    };
    const store = fairStore({ load } as unknown as EventStore);
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
