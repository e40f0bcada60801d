import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { element, elementWith, field, text } from '../../src/domain/common/canonical-xml.js';
import { parseXml } from '../../src/xml/document.js';
import { gunzipBase64, gzipBase64 } from '../../src/xml/packing.js';
import { attributeAt, nodesAt, textAt } from '../../src/xml/parse.js';
import { noteAround, unsignedDps } from '../support/fixture/xml-documents.js';

/** Any character, with those that escaping is about made common. */
const unit = fc.oneof(
  fc.constantFrom('&', '<', '>', '"', '\r', '\n', '\t', ' ', ';', '#', 'lt'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
);

const parsed = (xml: string | Buffer) => {
  const result = parseXml(Buffer.from(xml));
  if (!result.ok) throw new Error(result.reason);
  return result.root;
};

describe('parseXml', () => {
  it('keeps keys and numbers as text', () => {
    const note = parsed(noteAround(unsignedDps));
    expect(attributeAt(note, 'NFSe/infNFSe', 'Id')).toMatch(/^NFS[0-9]{50}$/);
    expect(textAt(note, 'NFSe/infNFSe/nNFSe')).toBe('1467');
    expect(textAt(note, 'NFSe/infNFSe/DPS/infDPS/cLocEmi')).toBe('2111300');
    expect(textAt(note, 'NFSe/infNFSe/missing/nNFSe')).toBeUndefined();
  });

  it.each([
    '<a>',
    '<a/><b/>',
    '<a>&nbsp;</a>',
    '<!DOCTYPE a [<!ENTITY e "boom">]><a>&e;</a>',
    '<a><__proto__>x</__proto__></a>',
    '<?xml version="1.0" encoding="ISO-8859-1"?><a/>',
    '',
  ])('refuses %j', (xml) => {
    expect(parseXml(Buffer.from(xml))).toMatchObject({ ok: false });
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(parseXml(Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]))).toMatchObject({ ok: false });
  });

  it('never takes one of two for the only one', () => {
    const root = parsed('<a><b>1</b><b>2</b></a>');
    expect(textAt(root, 'a/b')).toBeUndefined();
    expect(nodesAt(root, 'a/b')).toEqual(['1', '2']);
    expect(textAt(root, 'a/toString')).toBeUndefined();
  });

  it.each([
    ['&#xD;&#10;&#x1F600;', '\r\n😀'],
    ['x&#xE9;y&#10;', 'xéy\n'],
    ['&#233;&amp;#233;&amp;amp;#233;', 'é&#233;&amp;#233;'],
    ['&amp;#38;lt;', '&#38;lt;'],
    ['&#38;lt;', '&lt;'],
    ['a<![CDATA[<&amp;]]>b', 'a<&amp;b'],
    ['a<!-- <![CDATA[ -->b<!-- ]]> -->c', 'abc'],
    ['&amp;'.repeat(3000), '&'.repeat(3000)],
    ['a\r\nb', 'a\nb'],
  ])('reads %j as %j', (written, meant) => {
    expect(textAt(parsed(`<a><b>${written}</b></a>`), 'a/b')).toBe(meant);
  });

  it('decodes attributes', () => {
    expect(attributeAt(parsed('<a b="&quot;&#xA;&amp;lt;"/>'), 'a', 'b')).toBe('"\n&lt;');
  });

  it('reads back any text that the writer wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit, minLength: 1 }), (value) => {
        const carried = value.replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '?');
        expect(textAt(parsed(field('a', carried)), 'a')).toBe(carried);
      }),
    );
  });
});

describe('element', () => {
  it('writes canonical text', () => {
    expect(element('a', field('b', 'x & <y> "z"\r'), undefined)).toBe('<a><b>x &amp; &lt;y&gt; "z"&#xD;</b></a>');
    expect(elementWith('a', { versao: '"1"\n', xmlns: 'n' }, text('x'))).toBe(
      '<a xmlns="n" versao="&quot;1&quot;&#xA;">x</a>',
    );
  });

  it('refuses what XML or the layout cannot carry', () => {
    expect(() => element('a', undefined)).toThrow('a would be empty');
    expect(() => text('\u0000')).toThrow('cannot carry');
    expect(() => text('\ud800')).toThrow('cannot carry');
  });
});

describe('transport', () => {
  it('brings any bytes back', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const sent = Buffer.from(bytes);
        expect(gunzipBase64(gzipBase64(sent), 1000)).toEqual({ ok: true, bytes: sent });
      }),
    );
  });

  it('names what is wrong', () => {
    expect(gunzipBase64('', 10)).toEqual({ ok: false, reason: 'not_base64' });
    expect(gunzipBase64('não', 10)).toEqual({ ok: false, reason: 'not_base64' });
    expect(gunzipBase64('AAAA', 10)).toEqual({ ok: false, reason: 'not_gzip' });
    expect(gunzipBase64(gzipBase64(Buffer.alloc(11)), 10)).toEqual({ ok: false, reason: 'too_large' });
    expect(gunzipBase64(gzipBase64(Buffer.alloc(10)), 10)).toMatchObject({ ok: true });
  });
});
