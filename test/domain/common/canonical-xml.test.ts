import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { element, elementWith, field, isXmlText, text } from '../../../src/domain/common/canonical-xml.js';

describe('canonical XML', () => {
  it('writes elements in the order given and leaves out what is undefined', () => {
    expect(element('a', field('b', 'x'), undefined, field('c', undefined), element('d', text('y')))).toBe(
      '<a><b>x</b><d>y</d></a>',
    );
  });

  it('refuses an element without content, naming it: the layout forbids empty ones', () => {
    expect(() => element('infDPS', undefined)).toThrow('the element infDPS would be empty');
    expect(() => field('xNome', '')).toThrow('xNome');
  });

  it('puts the namespace first and the other attributes by name, whatever their order was', () => {
    const written = '<e xmlns="u" Id="1" a="2" versao="1.01">x</e>';
    expect(elementWith('e', { versao: '1.01', a: '2', xmlns: 'u', Id: '1' }, text('x'))).toBe(written);
    expect(elementWith('e', { xmlns: 'u', Id: '1', a: '2', versao: '1.01' }, text('x'))).toBe(written);
    expect(elementWith('e', { a: '1', Id: '2' }, text('x'))).toBe('<e Id="2" a="1">x</e>');
  });

  it('escapes as C14N does: in text & < > and carriage returns, in attributes & < " and white space', () => {
    expect(text('a&b<c>d"e\'f\tg\nh\ri')).toBe('a&amp;b&lt;c&gt;d"e\'f\tg\nh&#xD;i');
    expect(elementWith('e', { a: 'a&b<c>d"e\'f\tg\nh\ri' }, text('x'))).toBe(
      '<e a="a&amp;b&lt;c>d&quot;e\'f&#x9;g&#xA;h&#xD;i">x</e>',
    );
    expect(text('São Paulo – 漢字 😀')).toBe('São Paulo – 漢字 😀');
  });

  it.each(['\0', '\u0001', '\u001f', '\ufffe', '\uffff', '\ud800', 'a\udc00b'])(
    'refuses %j, which XML 1.0 cannot carry, without showing the text',
    (bad) => {
      expect(isXmlText(bad)).toBe(false);
      expect(() => text(`segredo ${bad}`)).toThrow('the text holds a character that XML 1.0 cannot carry');
      expect(() => elementWith('e', { a: `segredo ${bad}` }, text('x'))).toThrow(
        'the attribute holds a character that XML 1.0 cannot carry',
      );
    },
  );

  it('gives back every text that XML can carry, once it is unescaped', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }).filter(isXmlText), (value) => {
        const read = text(value)
          .replaceAll('&lt;', '<')
          .replaceAll('&gt;', '>')
          .replaceAll('&#xD;', '\r')
          .replaceAll('&amp;', '&');
        expect(read).toBe(value);
      }),
    );
  });
});
