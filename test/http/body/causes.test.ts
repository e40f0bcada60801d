import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { cancelBody } from '../../../src/http/body/cancel-schema.js';
import { checkBody } from '../../../src/http/body/check.js';
import { issueBody } from '../../../src/http/body/issue-schema.js';
import { codePoints, isLongerThan, textProblems } from '../../../src/http/body/text.js';

const problems = (value: string, rules: { min?: number; max: number; latin?: boolean } = { max: 5 }) =>
  textProblems('campo', value, rules);

const FIELDS =
  'Campos do corpo: amount_in_cents, description, customer, foreign_amount, reference, cnae, service_code.';

describe('the causes of a refused body', () => {
  const schema = v.strictObject({
    a: v.string('a deve ser um texto.'),
    b: v.optional(v.string('b deve ser um texto.')),
    inner: v.strictObject({ c: v.string('inner.c deve ser um texto.') }),
  });
  const params = (body: Record<string, unknown>) => {
    const checked = checkBody(schema, body);
    return 'causes' in checked ? checked.causes.map(({ param, message }) => `${param}: ${message}`) : [];
  };

  it('are all there: the sent fields in the order of the document, then the missing ones, level by level', () => {
    expect(params({ z: 1, inner: { y: 1 }, b: 2 })).toEqual([
      'z: O campo z não é conhecido. Campos do corpo: a, b, inner.',
      'inner.y: O campo inner.y não é conhecido. Campos de inner: c.',
      'inner.c: O campo inner.c é obrigatório.',
      'b: b deve ser um texto.',
      'a: O campo a é obrigatório.',
    ]);
  });

  it('name a field of empty name, and no half character of a long one', () => {
    expect(params({ a: 'x', inner: { c: 'y' }, '': 1 })).toEqual([
      ': O campo de nome vazio não é conhecido. Campos do corpo: a, b, inner.',
    ]);
    const [cause = ''] = params({ a: 'x', inner: { c: 'y' }, [`${'k'.repeat(99)}😀`]: 1 });
    expect(cause).toMatch(/^k{99}…: /);
  });

  it('are none for a body that is right, which comes back as it is', () => {
    const body = { a: 'x', inner: { c: 'y' } };
    expect(checkBody(schema, body)).toEqual({ value: body });
  });

  it('name what every object has by birth as unknown, and a null as no object', () => {
    const sent = { a: 'x', inner: null, toString: 1, constructor: 1 };
    expect(params(sent)).toEqual([
      'inner: inner deve ser um objeto.',
      'toString: O campo toString não é conhecido. Campos do corpo: a, b, inner.',
      'constructor: O campo constructor não é conhecido. Campos do corpo: a, b, inner.',
    ]);
  });

  it.each([
    [{ amount: 1 }, 'O campo amount não é conhecido. Você quis dizer amount_in_cents?'],
    [
      { customer: { documento: '1' } },
      'O campo customer.documento não é conhecido. Você quis dizer customer.document?',
    ],
    [
      { country: 'US' },
      'O campo country não é conhecido. Você quis dizer customer.address.country, que só vale numa exportação?',
    ],
    [
      { customer: { currency: 'USD' } },
      'O campo customer.currency não é conhecido. Você quis dizer foreign_amount.currency, que só vale numa exportação?',
    ],
    [{ toString: 1 }, `O campo toString não é conhecido. ${FIELDS}`],
    [{ montante: 1 }, `O campo montante não é conhecido. ${FIELDS}`],
    [
      { customer: { sexo: '1' } },
      'O campo customer.sexo não é conhecido. Campos de customer: type, document, name, tax_id, tax_id_absence_reason, address.',
    ],
    [{ valor: 1 }, 'O campo valor não é conhecido. Você quis dizer amount_in_cents?'],
    [{ Valor_Serviço: 1 }, 'O campo Valor_Serviço não é conhecido. Você quis dizer amount_in_cents?'],
    [
      { customer: { razao_social: '' } },
      'O campo customer.razao_social não é conhecido. Você quis dizer customer.name?',
    ],
    [{ cnpj: '1' }, 'O campo cnpj não é conhecido. Você quis dizer customer.document?'],
    [
      { customer: { endereço: {} } },
      'O campo customer.endereço não é conhecido. Você quis dizer customer.address, que só vale numa exportação?',
    ],
    [
      { idempotency_key: 'x' },
      'O campo idempotency_key não é conhecido. A Idempotency-Key vai no cabeçalho da requisição, não no corpo.',
    ],
    [
      { customer: { email: 'x' } },
      'O campo customer.email não é conhecido. O serviço não envia mensagens ao cliente: entregue você o PDF da nota.',
    ],
    [{ motivo: 'x' }, `O campo motivo não é conhecido. ${FIELDS}`],
  ])('of the unknown field in %j: %s', (body, message) => {
    const checked = checkBody(issueBody, body);
    expect('causes' in checked ? checked.causes[0]?.message : undefined).toBe(message);
  });

  it('of a cancellation suggest fields of a cancellation only', () => {
    const checked = checkBody(cancelBody, { motivo: 1, justificativa: 1, valor: 1 });
    expect('causes' in checked ? checked.causes.map(({ message }) => message) : []).toEqual([
      'O campo motivo não é conhecido. Você quis dizer reason?',
      'O campo justificativa não é conhecido. Você quis dizer description?',
      'O campo valor não é conhecido. Campos do corpo: reason, description.',
    ]);
  });

  it('say of a null in an optional field that the field may be left out', () => {
    const checked = checkBody(issueBody, { amount_in_cents: 100, description: null, customer: { document: null } });
    expect('causes' in checked ? checked.causes.map(({ message }) => message) : []).toEqual([
      'description deve ser um texto.',
      'customer.document deve ser um texto. Em vez de null, deixe o campo fora do corpo.',
    ]);
  });

  it('show of a very long key its first 100 characters', () => {
    const right = { a: 'x', inner: { c: 'y' } };
    expect(params({ ...right, ['k'.repeat(100)]: 1 })[0]).toContain(`O campo ${'k'.repeat(100)} não`);
    expect(params({ ...right, ['k'.repeat(101)]: 1 })[0]).toContain(`O campo ${'k'.repeat(100)}… não`);
  });

  it('are all listed, however many a body has (ERR-errors)', () => {
    const body = Object.fromEntries(Array.from({ length: 999 }, (_unused, n) => [`k${n}`, 1]));
    const checked = checkBody(schema, body);
    expect('causes' in checked ? checked.causes : []).toHaveLength(1_001);
  });
});

describe('a text', () => {
  it.each<[string, string, readonly string[]]>([
    ['right', 'Olá 🎉', []],
    ['with line breaks', 'a\r\nb', []],
    ['empty', '', ['campo não pode ser vazio.']],
    ['blank', ' \n\u3000', ['campo deve ter ao menos um caractere que não seja espaço.']],
    ['too long', 'abcdef', ['campo deve ter no máximo 5 caracteres.']],
    ['far too long', 'x'.repeat(100), ['campo deve ter no máximo 5 caracteres.']],
    ['with half a character', 'a\ud800', ['campo contém um caractere incompleto (metade de um par Unicode).']],
    ['with a tab', 'a\tb', ['campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.']],
    ['with NUL', '\u0000', ['campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.']],
    [
      'with a control of Latin-1',
      'a\u0085',
      ['campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.'],
    ],
    [
      'with U+FFFE',
      'a\ufffe',
      ['campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.'],
    ],
    [
      'with U+FFFF',
      'a\uffff',
      ['campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.'],
    ],
    [
      'blank but for a control character',
      '\t',
      [
        'campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.',
        'campo deve ter ao menos um caractere que não seja espaço.',
      ],
    ],
  ])('%s', (_what, value, expected) => {
    expect(problems(value)).toEqual(expected);
  });

  it('is counted in characters and not in the halves of pairs', () => {
    expect(codePoints('a🎉é')).toBe(3);
    expect(problems('🎉🎉🎉🎉🎉')).toEqual([]);
    expect(problems('🎉🎉🎉🎉🎉a')).toEqual(['campo deve ter no máximo 5 caracteres.']);
    expect([isLongerThan(2, '🎉🎉'), isLongerThan(2, '🎉🎉a'), isLongerThan(2, 'ab'), isLongerThan(2, 'abc')]).toEqual([
      false,
      true,
      false,
      true,
    ]);
  });

  it('with a least length names both limits', () => {
    expect(problems('abc', { min: 4, max: 9 })).toEqual(['campo deve ter de 4 a 9 caracteres.']);
    expect(problems('abcd', { min: 4, max: 9 })).toEqual([]);
  });
});

describe('a text that the note carries in Latin letters', () => {
  const latin = { min: 3, max: 5, latin: true };
  const LENGTH = 'campo deve ter de 3 a 5 caracteres como vai na nota: € vira EUR, e os espaços das pontas não contam.';

  it.each<[string, string, readonly string[]]>([
    ['right', 'Łódź', []],
    [
      'without a Latin form',
      '日本語',
      [
        'campo tem um emoji, um símbolo ou uma letra de outro alfabeto, que a nota não aceita: retire-o ou escreva com letras latinas.',
      ],
    ],
    ['as long as it may be once written', '€ab', []],
    ['longer once written', '€€', ['campo deve ter de 3 a 5 caracteres.']],
    ['too long once written', '€€a', [LENGTH]],
    ['shorter without the blanks at its ends', ' ab ', [LENGTH]],
    ['just long enough without them', ' abc', []],
    [
      'with a control character, which is all that is said',
      'ab\u0000',
      ['campo contém caracteres de controle, como tabulações; só quebras de linha são aceitas.'],
    ],
  ])('%s', (_what, value, expected) => {
    expect(problems(value, latin)).toEqual(expected);
  });

  it('is not asked for elsewhere', () => {
    expect(problems('日本語')).toEqual([]);
  });
});

describe('the body of a cancel', () => {
  const causesOf = (body: Record<string, unknown>) => {
    const checked = checkBody(cancelBody, body);
    return 'causes' in checked ? checked.causes.map(({ message }) => message) : [];
  };

  it.each(['issuance_error', 'service_not_provided', 'other'])('may give the reason %s', (reason) => {
    expect(causesOf({ reason })).toEqual([]);
  });

  it('may be empty', () => {
    expect(causesOf({})).toEqual([]);
  });

  it('gives no other reason', () => {
    expect(causesOf({ reason: '' })).toEqual(['reason deve ser issuance_error, service_not_provided ou other.']);
  });

  it('explains itself in 15 to 255 Latin characters', () => {
    expect(causesOf({ description: 'x'.repeat(15) })).toEqual([]);
    expect(causesOf({ description: 'x'.repeat(255) })).toEqual([]);
    expect(causesOf({ description: 'x'.repeat(14) })).toEqual(['description deve ter de 15 a 255 caracteres.']);
    expect(causesOf({ description: 'x'.repeat(256) })).toEqual(['description deve ter no máximo 255 caracteres.']);
    expect(causesOf({ description: '日'.repeat(20) })).toHaveLength(1);
  });
});

it('the body of an issue asks for amount and description, and for nothing else', () => {
  const checked = checkBody(issueBody, {});
  expect('causes' in checked && checked.causes.map(({ param }) => param)).toEqual(['amount_in_cents', 'description']);
});
