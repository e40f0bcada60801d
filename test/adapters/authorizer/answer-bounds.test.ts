import { describe, expect, it } from 'vitest';
import { countJson, JSON_BOUNDS } from '../../../src/adapters/authorizer/answer-bounds.js';
import type { Exchange } from '../../../src/adapters/authorizer/exchange.js';
import { readAnswer } from '../../../src/adapters/authorizer/reading.js';
import { errorsOf, objectOf, packedEventOf, readJson } from '../../../src/adapters/authorizer/responses.js';
import { countXml, XML_BOUNDS } from '../../../src/xml/bounds.js';
import { withXmlDocument } from '../../../src/xml/document.js';
import { gunzipBase64, gzipBase64 } from '../../../src/xml/packing.js';
import { sample } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

const MIB = 1024 * 1024;
const json = (text: string): Buffer => Buffer.from(text);

/** A number of casings of one name: JSON distinguishes them, and the reader takes them for the same member. */
const casings = (count: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    [...'abcdefghijklmnopqrstuvwxyz'].map((letter, at) => ((n >> at) & 1 ? letter.toUpperCase() : letter)).join(''),
  );

describe('a JSON answer', () => {
  it.each([
    ['members', `{${'"a":1,'.repeat(300_000)}"b":1}`],
    ['values', `[${'{},'.repeat(600_000)}1]`],
    ['depth', `${'['.repeat(500_000)}${']'.repeat(500_000)}`],
    ['members', `{${casings(60_000).map((name) => `"${name}":1`)}}`],
  ] as const)('beyond the bound of %s is refused before it is parsed, after a look at a part of it', (what, text) => {
    const body = json(text);
    const counted = countJson(body);
    expect(counted.exceededLimit).toBe(what);
    expect(counted.bytesRead).toBeLessThan(JSON_BOUNDS.values * 40);
    expect(readJson('application/json', body)).toBeUndefined();
  });

  it('is read once, whatever it holds', () => {
    for (const text of [
      '"',
      `"${'\\'.repeat(2 * MIB)}`,
      `{"a":"${'x'.repeat(2 * MIB)}"}`,
      '{"a":"[[[{{{:::,,,\\"[["}',
    ]) {
      const body = json(text);
      expect(countJson(body)).toMatchObject({ bytesRead: body.length, exceededLimit: undefined });
    }
  });

  it.each([
    ['{"a":1,"a":2}', true],
    ['{"a":1,"\\u0061":2}', true],
    ['{"é":1,"\\u00E9":2}', true],
    ['{"\\"":1,"\\u0022":2}', true],
    ['{"":1,"":2}', true],
    ['{"a" :1 , "b":{"c":[{"d":1},{"d":1,\n"d"\t:1}]}}', true],
    ['{"a":{"b":1},"a":{}}', true],
    ['{"__proto__":1,"__proto__":2}', true],
    ['{"a":1,"A":2}', false],
    ['{"a":"a","b":"a","c":["a","a"]}', false],
    ['{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}', false],
    ['{"a":"\\",\\"a\\":","b":1}', false],
    ['{"\uFEFFa":1,"a":2}', false],
    ['{"\\\\u0061":1,"a":2}', false],
  ])('knows whether an object has a name twice: %s', (text, repeats) => {
    expect(countJson(json(text)).repeats).toBe(repeats);
    expect(readJson('application/json', json(text)) === undefined).toBe(repeats);
  });

  it('costs each of its names once, at the bound of members and however long they are', () => {
    const many = Array.from({ length: JSON_BOUNDS.members }, (_, n) => `"\\u0061${n}":1`);
    const long = 'x'.repeat(MIB);
    for (const [text, named] of [
      [`{${many}}`, many.join('').length - many.length * '"":1'.length],
      [`{"${long}":"${long}","b":["${long}"]}`, MIB + 1],
    ] as const) {
      expect(countJson(json(text))).toMatchObject({
        named,
        bytesRead: text.length,
        exceededLimit: undefined,
        repeats: false,
      });
    }
  });

  it('may hold many times what a real answer holds', () => {
    const items = Array.from({ length: 2_000 }, (_, n) => ({ Codigo: `E${n}`, Descricao: 'texto', Complemento: '' }));
    const body = readJson('application/json', json(JSON.stringify({ erros: items })));
    expect(errorsOf(body ?? {})).toHaveLength(2_000);
  });

  it('with members that differ in casing alone costs each of them once', () => {
    let reads = 0;
    const names = casings(5_000);
    const counted = new Proxy(Object.fromEntries(names.map((name) => [name, ['x']])), {
      get: (target, name) => {
        reads += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    const merged = objectOf(counted);
    expect(Object.keys(merged ?? {})).toHaveLength(1);
    expect(merged?.abcdefghijklmnopqrstuvwxyz).toHaveLength(5_000);
    expect(reads).toBe(5_000);
  });

  it('finds one event among many', () => {
    const eventos = Array.from({ length: 1_000 }, (_, n) => ({ TipoEvento: n, ArquivoXml: `xml ${n}` }));
    expect(packedEventOf({ eventos }, '999')).toBe('xml 999');
  });
});

describe('a document', () => {
  const doc = (inner: string): Buffer => Buffer.from(`<NFSe>${inner}</NFSe>`);
  const many = (count: number, one: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => one(n)).join('');

  it.each([
    ['elements', doc('<a/>'.repeat(XML_BOUNDS.elements))],
    ['sections', doc('<!---->'.repeat(XML_BOUNDS.sections + 1))],
    ['sections', doc('<![CDATA[]]>'.repeat(XML_BOUNDS.sections + 1))],
    ['sections', doc('<?a?>'.repeat(XML_BOUNDS.sections + 1))],
    ['attributesOfOneElement', doc(`<a${many(100_000, (n) => ` a${n}="1"`)}/>`)],
    ['attributes', doc(many(2_000, () => `<a${many(20, (n) => ` a${n}=""`)}/>`))],
    ['namespaces', doc(many(XML_BOUNDS.namespaces + 1, (n) => `<a xmlns:n${n}='u:${n}'/>`))],
    ['depth', Buffer.from('<a>'.repeat(100_000) + '</a>'.repeat(100_000))],
    ['text', doc('x'.repeat(XML_BOUNDS.text + 1))],
    ['text', doc(`<a b="${'x'.repeat(XML_BOUNDS.text + 1)}"/>`)],
    ['text', doc(`<!--${'x'.repeat(XML_BOUNDS.text + 1)}-->`)],
    ['name', doc(`<${'a'.repeat(MIB)}/>`)],
    ['name', doc(`<a${' '.repeat(MIB)}/>`)],
  ] as const)('beyond the bound of %s is refused before it is parsed', (what, xml) => {
    const counted = countXml(xml);
    expect(counted.exceededLimit).toBe(what);
    expect(counted.bytesRead).toBeLessThanOrEqual(xml.length);
    expect(withXmlDocument(xml, () => 'parsed')).toEqual({
      ok: false,
      reason: `more than a document may hold: ${what}`,
    });
  });

  it('is counted by its elements, and text that looks like an element is not counted', () => {
    const xml = doc(
      `<a b='<' c=">"><!-- <x y="1"> --><![CDATA[<x><x>]]><?p <x>?><d xmlns="u:1" xmlns:e="u:2"/>t=1</a  ><f g = "1" />`,
    );
    expect(countXml(xml)).toMatchObject({
      elements: 4,
      sections: 3,
      attributes: 5,
      attributesOfOneElement: 2,
      namespaces: 2,
      depth: 2,
      bytesRead: xml.length,
      exceededLimit: undefined,
    });
  });

  it.each([
    ['UTF-16', Buffer.from('\uFEFF<NFSe/>', 'utf16le')],
    ['UTF-16 without a mark', Buffer.from('<NFSe/>', 'utf16le')],
    ['a declared UTF-7', Buffer.from('<?xml version="1.0" encoding="UTF-7"?><NFSe/>')],
    ['a declared ISO-8859-1', Buffer.from("<?xml version='1.0' encoding = 'iso-8859-1'?><NFSe/>")],
  ])('in another encoding is refused before it is counted: %s', (_name, xml) => {
    expect(withXmlDocument(xml, () => 'parsed')).toEqual({ ok: false, reason: 'the encoding is not UTF-8' });
  });

  for (const name of [
    'nfse-07-producao-me-epp-cpf.xml',
    'nfse-08-restrita-ibscbs.xml',
    'nfse-09-emissor-web-v1.00.xml',
    'nfse-10-exportacao-construida.xml',
  ]) {
    itWith('samples', `of the national system is far below each bound: ${name}`, () => {
      const { bytesRead: _looked, exceededLimit, ...counts } = countXml(sample(name));
      expect(exceededLimit).toBeUndefined();
      for (const [what, bound] of Object.entries(XML_BOUNDS)) {
        expect(counts[what as keyof typeof XML_BOUNDS] * 2, what).toBeLessThan(bound);
      }
    });
  }

  it('is unpacked up to its bound', () => {
    const packed = gzipBase64(Buffer.alloc(20 * MIB, 'a'));
    expect(gunzipBase64(packed, MIB)).toEqual({ ok: false, reason: 'too_large' });
    const exchange: Exchange = {
      kind: 'answered',
      status: 201,
      contentType: 'application/json',
      body: json(JSON.stringify({ nfseXmlGZipB64: packed })),
    };
    const result = readAnswer({ name: 'sentDps', expected: { id: 'DPS', digest: 'digest' }, exchange });
    expect(result).toMatchObject({ kind: 'unknown', reason: 'success_not_ours_or_unreadable' });
  });
});

describe('the check of base64', () => {
  it('accepts the same texts as before, in time that grows with their length alone', () => {
    for (const text of ['YQ==', ' YQ = '.replaceAll(' ', ''), 'YWI=\n', 'YWJj\n\t ', 'YWJj']) {
      expect(gunzipBase64(text, 10)).not.toEqual({ ok: false, reason: 'not_base64' });
    }
    for (const text of ['', '=', '===', 'YQ= =', 'Y!', 'YQ===', 'YQ==x']) {
      expect(gunzipBase64(text, 10)).toEqual({ ok: false, reason: 'not_base64' });
    }
    // This takes hours if a blank can match two parts of the pattern.
    expect(gunzipBase64(`${' '.repeat(2 * MIB)}!`, 10)).toEqual({ ok: false, reason: 'not_base64' });
  });
});
