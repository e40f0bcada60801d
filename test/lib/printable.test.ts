import { describe, expect, it } from 'vitest';
import { visibleCharacters } from '../../src/lib/printable.js';

const DIRECTIONS = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';
const DIRECTIONS_SHOWN = '\\u061c\\u200e\\u200f\\u202a\\u202b\\u202c\\u202d\\u202e\\u2066\\u2067\\u2068\\u2069';

describe('an invisible character in a text of a client', () => {
  it('is shown as JSON writes it, and all else as it is', () => {
    expect(visibleCharacters(`ação ${DIRECTIONS} \u05d0`)).toBe(`ação ${DIRECTIONS_SHOWN} \u05d0`);
    expect(visibleCharacters('pedido-1001\u200b-\u00ad2\ufeff\u3164\ufffa')).toBe(
      'pedido-1001\\u200b-\\u00ad2\\ufeff\\u3164\\ufffa',
    );
    expect(visibleCharacters('\u{e0001}')).toBe('\\udb40\\udc01');
    expect(visibleCharacters('a\n\tb é ﬁ 中 \u00a0')).toBe('a\n\tb é ﬁ 中 \u00a0');
  });

  it.each(['👩🏽‍💻', '🏳️‍🌈', '❤️‍🔥', '👨‍👩‍👧‍👦', '🇧🇷', '☕️', '1️⃣', '#️⃣', '☎︎'])('stays inside of the emoji %s', (emoji) => {
    expect(visibleCharacters(`a${emoji}${emoji}b`)).toBe(`a${emoji}${emoji}b`);
  });

  it('is shown beside an emoji that it joins with nothing', () => {
    expect(visibleCharacters('1\ufe0f☕\u200d2\u200d☕')).toBe('1\\ufe0f☕\\u200d2\\u200d☕');
    expect(visibleCharacters('☕\ufe0f\ufe0f')).toBe('☕\ufe0f\\ufe0f');
  });

  it('leaves JSON with the same value', () => {
    const value = { a: `\u200b\u{e0001}${DIRECTIONS}` };
    expect(JSON.parse(visibleCharacters(JSON.stringify(value)))).toEqual(value);
  });
});
