import { describe, expect, it } from 'vitest';
import { documentKey, shareRenderings } from '../../../src/adapters/pdf/renderer.js';
import { marks } from './support/notes.js';

/** Counts what is really drawn. */
const counted = () => {
  const counter = {
    times: 0,
    draw: async () => {
      counter.times += 1;
      return Buffer.from(`drawing ${counter.times}`);
    },
  };
  return counter;
};

describe('the renderings under way', () => {
  it('are shared by those who ask at the same moment', async () => {
    const shared = shareRenderings();
    const drawn = counted();
    const [first, second, other] = await Promise.all([
      shared('a', drawn.draw),
      shared('a', drawn.draw),
      shared('b', drawn.draw),
    ]);
    expect(second).toBe(first);
    expect(other).not.toBe(first);
    expect(drawn.times).toBe(2);
  });

  it('are not kept once they have ended', async () => {
    const shared = shareRenderings();
    const drawn = counted();
    expect(String(await shared('a', drawn.draw))).toBe('drawing 1');
    expect(String(await shared('a', drawn.draw))).toBe('drawing 2');
  });

  it('fail every caller that waited, and are begun again after a failure', async () => {
    const shared = shareRenderings();
    const fail = () => Promise.reject(new Error('no paper'));
    const together = await Promise.allSettled([shared('a', fail), shared('a', fail)]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(String(await shared('a', counted().draw))).toBe('drawing 1');
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
