import { describe, expect, it } from 'vitest';
import { cancelBody } from '../../../src/http/body/cancel-schema.js';
import { fieldMeantBy, isOfExports, sentenceWithoutField } from '../../../src/http/body/field-hints.js';
import { addressInput, customerInput, foreignAmountInput, issueBody } from '../../../src/http/body/issue-schema.js';

const PATHS = ['amount_in_cents', 'customer', 'customer.document', 'customer.address.city'];

describe('a name of another system', () => {
  it.each([
    ['valor', 'amount_in_cents'],
    ['VALOR', 'amount_in_cents'],
    ['preço', 'amount_in_cents'],
    ['valor_total', 'amount_in_cents'],
    ['cpf_cnpj', 'customer.document'],
    ['cidade', 'customer.address.city'],
    ['motivo', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['valor'.repeat(2_000), undefined],
  ])('%j means %j', (name, path) => {
    expect(fieldMeantBy(name, PATHS)).toBe(path);
  });

  it('is never the name of a field of this API', () => {
    const objects = [issueBody, cancelBody, customerInput, addressInput, foreignAmountInput];
    const names = objects.flatMap(({ entries }) => Object.keys(entries));
    const paths = [
      ...Object.keys(issueBody.entries),
      ...Object.keys(cancelBody.entries),
      ...Object.keys(customerInput.entries).map((name) => `customer.${name}`),
      ...Object.keys(addressInput.entries).map((name) => `customer.address.${name}`),
      ...Object.keys(foreignAmountInput.entries).map((name) => `foreign_amount.${name}`),
    ];
    for (const name of names)
      expect([name, fieldMeantBy(name, paths), sentenceWithoutField(name)]).toEqual([name, undefined, undefined]);
  });
});

describe('a name without a field', () => {
  it.each(['ibs', 'CBS', 'natureza_operacao', 'naturezaOperação', 'deductions', 'deduções'])(
    '%s is of taxes, which have no field',
    (name) => expect(sentenceWithoutField(name)).toMatch(/^Impostos, .*não têm campo/),
  );

  it.each(
    'iss_retido inss_retido issqn_retido valor_iss valor_inss retencao_irrf pis_retido csrf base_calculo imunidade'.split(
      ' ',
    ),
  )('%s is answered with the portal, not with the company file, which has no withholding', (name) =>
    expect(sentenceWithoutField(name)).toMatch(
      /valor bruto; uma nota com retenção, dedução ou imunidade é emitida no portal/,
    ),
  );

  it.each([
    ['obra cno art evento', /^Obras e eventos .* no portal nacional/],
    ['substituicao substituir substitui nota_substituida substitutes', /espere que o status dela seja canceled/],
    ['intermediario local_prestacao municipio_prestacao', /^Intermediário e local da prestação .* no portal nacional/],
    ['nbs cst cIndOp', /são os do cadastro do serviço/],
    ['regime simples_nacional mei optanteSimplesNacional', /o regime é o do cadastro/],
    ['exigibilidade', /^Impostos/],
    ['competencia data_competencia dataCompetencia data_emissao', /são sempre as do recebimento/],
    [
      'desconto discount_in_cents desconto_incondicionado',
      /um só valor, .* Pergunte ao contador .* mostrar o desconto .* portal/,
    ],
    ['parcelas vencimento pix', /escreva-os em description/],
  ])('%s: the sentence says what to do', (names, sentence) => {
    for (const name of names.split(' ')) expect(sentenceWithoutField(name)).toMatch(sentence);
  });

  it.each(['observacoes', 'informações_complementares'])('%s belongs into the description', (name) => {
    expect(fieldMeantBy(name, ['description'])).toBe('description');
  });

  it.each(['webhook_url', 'webhookUrl', 'competência', 'ISS', 'iss_retido', 'itens', 'série', 'e-mail'])(
    '%s gets a sentence',
    (name) => {
      expect(sentenceWithoutField(name)).toMatch(/\.$/);
    },
  );
});

describe('the fields of exports', () => {
  it.each([
    ['customer.tax_id', true],
    ['customer.tax_id_absence_reason', true],
    ['customer.address.city', true],
    ['foreign_amount', true],
    ['customer.document', false],
    ['amount_in_cents', false],
  ])('%s: %s', (path, expected) => {
    expect(isOfExports(path)).toBe(expected);
  });
});
