import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transliterate } from '../../../src/domain/dps/transliterate.js';

describe('transliterate', () => {
  it.each([
    ['ação – “São João”\r\nn.º 1', 'ação - "São João" n.º 1'],
    ['Łódź đứờng ø ß Ørsted', 'Lódz duong ø ß Ørsted'],
    ['a\u0301 e\u0303 q\u0303', 'á e q'],
    ['  borda\t ', 'borda'],
    ['l’été… ½ €', "l'été... ½ EUR"],
    ['e\u200db ﬁm Ⅳ', 'eb fim IV'],
    ['Nizami küçəsi, Əhmədli', 'Nizami küçesi, Ehmedli'],
    ['ʻAiea Oʻzbekiston Oʼahu ʾAmmān ʿAmr Tatʹjana', "'Aiea O'zbekiston O'ahu 'Amman 'Amr Tat'jana"],
    ['Ƙofar Ɗan Ɓauchi Ƴar, ƙofar ɗan ɓauchi ƴar', 'Kofar Dan Bauchi Yar, kofar dan bauchi yar'],
    ['Ɛ̀wɔ̀ Ɔ̀yɛ̀ ŋutɔ Ʋɔ ʋɔ Ɖe ɖe ƒe Ƒe', 'Ewo Oye nuto Vo vo De de fe Fe'],
    ['\ua7ac\u0261 \ua7ad\u026c', 'Gg Ll'],
    ['Ɲɛɲɛ Ŋaa Ƶ ƶ Ɨɨ Ʉʉ Ʊʊ Ɩɩ', 'Nene Naa Z z Ii Uu Uu Ii'],
    ['ʔəʔ ȾȺȽ ŉ ǁKaras ǃXam ǀAe', "'e' TAL 'n ||Karas !Xam |Ae"],
  ])('writes %j as %j', (text, latin) => expect(transliterate(text)).toBe(latin));

  it.each(['日本', 'Привет', '🎉', 'a\u0000b', 'a\u0085b\u009f'])('has no Latin form for %j', (text) => {
    expect(transliterate(text)).toBeUndefined();
  });

  it('gives text of the type TSString or nothing, and changes it no further', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const latin = transliterate(text);
        if (latin === undefined || latin === '') return;
        expect(latin).toMatch(/^[!-ÿ]([ -ÿ]*[!-ÿ])?$/);
        expect(transliterate(latin)).toBe(latin);
      }),
    );
  });

  it('keeps Latin-1 as it is', () => {
    const latin1 = Array.from({ length: 95 }, (_unused, index) => String.fromCharCode(0xa1 + index)).join('');
    expect(transliterate(latin1)).toBe(latin1);
  });
});
