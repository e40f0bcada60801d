import { describe, expect, it } from 'vitest';
import { createPdfCache, documentKey } from '../../../src/adapters/pdf/renderer.js';
import { marks } from './support/notes.js';

const pdfOf = (length: number): Buffer => Buffer.alloc(length);

const cacheOf = (maxBytes: number) => {
  const cache = createPdfCache(maxBytes);
  return { get: (key: string, render: () => Promise<Buffer>) => cache.forceFetch(key, { context: render }) };
};

/** Counts what is really drawn. */
const counted = (pdf: Buffer): { times: number; draw: () => Promise<Buffer> } => {
  const counter = {
    times: 0,
    draw: async () => {
      counter.times += 1;
      return pdf;
    },
  };
  return counter;
};

describe('the documents kept', () => {
  it('are drawn once for those who ask one after the other, and at the same moment', async () => {
    const cache = cacheOf(1_000);
    const drawn = counted(pdfOf(10));
    const [first, second] = await Promise.all([cache.get('a', drawn.draw), cache.get('a', drawn.draw)]);
    expect(second).toBe(first);
    expect(await cache.get('a', drawn.draw)).toBe(first);
    expect(drawn.times).toBe(1);
  });

  it('are drawn again after a failure, which fails every caller that waited', async () => {
    const cache = cacheOf(1_000);
    const fail = async () => Promise.reject(new Error('no paper'));
    const together = await Promise.allSettled([cache.get('a', fail), cache.get('a', fail)]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const drawn = counted(pdfOf(10));
    await cache.get('a', drawn.draw);
    expect(drawn.times).toBe(1);
  });

  it('never take more bytes than allowed: the one that was asked for longest ago is removed first', async () => {
    const cache = cacheOf(100);
    const [a, b, c] = [counted(pdfOf(40)), counted(pdfOf(40)), counted(pdfOf(40))];
    await cache.get('a', a.draw);
    await cache.get('b', b.draw);
    await cache.get('a', a.draw);
    await cache.get('c', c.draw);
    await cache.get('a', a.draw);
    await cache.get('c', c.draw);
    expect([a.times, b.times, c.times]).toEqual([1, 1, 1]);
    await cache.get('b', b.draw);
    expect(b.times).toBe(2);
  });

  it('do not include one that is larger than the whole cache, and no other is removed for it', async () => {
    const cache = cacheOf(100);
    const [small, large] = [counted(pdfOf(60)), counted(pdfOf(101))];
    await cache.get('small', small.draw);
    await cache.get('large', large.draw);
    await cache.get('large', large.draw);
    await cache.get('small', small.draw);
    expect([small.times, large.times]).toEqual([1, 2]);
  });
});

describe('the key of a document', () => {
  const xml = Buffer.from('<NFSe>1</NFSe>');

  it('is another for another XML and for every mark', () => {
    const keys = [
      documentKey(xml, marks()),
      documentKey(Buffer.from('<NFSe>2</NFSe>'), marks()),
      documentKey(xml, marks({ canceled: true })),
      documentKey(xml, marks({ replaced: true })),
      documentKey(xml, marks({ simulated: true })),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is the same for the same content and any caller', () => {
    expect(documentKey(Buffer.from(xml), marks())).toBe(documentKey(xml, marks()));
  });
});
