import * as v from 'valibot';
import { errorCatalogue } from '../../domain/common/error-catalogue.js';
import { codeText, referenceText, text } from './text.js';

/**
 * Form of `customer.document`: a CPF of 11 or a CNPJ of 14 digits (POSTC-document). Only this line keeps CNPJs with letters out of the API:
 * the code after them takes `[0-9A-Z]{12}[0-9]{2}`, as does the layout since 2026-08-10 (docs/national-system.md#cnpj-with-letters).
 */
export const CUSTOMER_DOCUMENT = /^(?:[0-9]{11}|[0-9]{14})$/;

const MIN_AMOUNT = 100;
const MAX_AMOUNT = Number.MAX_SAFE_INTEGER;
export const MAX_DESCRIPTION = 2000;

/** As the only cause it has its own code; beside other causes it is one of them (CODE-nfse.customer_document_invalid, ERR-errors). */
export const DOCUMENT_MESSAGE = errorCatalogue['nfse.customer_document_invalid'].message;

/** Same code as the message above. */
export const LETTERS_MESSAGE =
  'customer.document: a API ainda não aceita CNPJ com letras, só 11 dígitos (CPF) ou 14 dígitos (CNPJ). A nota para esse cliente é emitida no portal nacional.';

const WITH_LETTERS = /^(?=.*[A-Z])[0-9A-Z]{2}\.?[0-9A-Z]{3}\.?[0-9A-Z]{3}\/?[0-9A-Z]{4}-?[0-9]{2}$/i;

const AMOUNT_MESSAGE = `amount_in_cents deve ser um número inteiro de centavos, de ${MIN_AMOUNT} a ${MAX_AMOUNT}.`;

const amount = v.pipe(
  v.number(AMOUNT_MESSAGE),
  v.check((cents) => Number.isSafeInteger(cents) && cents >= MIN_AMOUNT, AMOUNT_MESSAGE),
  v.description(
    'Valor bruto do serviço, em centavos de real, sem descontar nenhuma retenção: é a base de cálculo do ISS. 125050 é R$ 1.250,50. Obrigatório também numa exportação. Numa nota de competência 2027 ou posterior que declara IBS e CBS, o sistema nacional os soma a este valor no total da nota: não mude o preço por conta própria, decida com o contador.',
  ),
  v.metadata({ integer: true, minimum: MIN_AMOUNT, maximum: MAX_AMOUNT }),
);

const FOREIGN_AMOUNT_MESSAGE = `foreign_amount.amount_in_cents deve ser um número inteiro de centavos, até ${MAX_AMOUNT}.`;

/** Zero and negative amounts pass: a later rule refuses them with their own code (CODE-nfse.foreign_amount_invalid). */
export const foreignAmountInput = v.strictObject({
  currency: v.optional(
    codeText(
      'foreign_amount.currency',
      'Obrigatório: moeda, código ISO 4217 de três letras maiúsculas, por exemplo USD.',
    ),
  ),
  amount_in_cents: v.optional(
    v.pipe(
      v.number(FOREIGN_AMOUNT_MESSAGE),
      v.check((cents) => Number.isSafeInteger(cents), FOREIGN_AMOUNT_MESSAGE),
      v.description('Obrigatório: centavos da moeda estrangeira, maior que zero e sempre com duas casas.'),
      v.metadata({ integer: true, maximum: MAX_AMOUNT }),
    ),
  ),
});

/** All fields are optional here, because one 422 names all missing fields of an export (CODE-nfse.export_incomplete). */
export const addressInput = v.strictObject({
  street: v.optional(
    text('customer.address.street', { max: 255, latin: true }, 'Obrigatório: logradouro no exterior.'),
  ),
  number: v.optional(text('customer.address.number', { max: 60, latin: true }, 'Obrigatório: número.')),
  district: v.optional(
    text(
      'customer.address.district',
      { max: 60, latin: true },
      'Obrigatório: bairro ou distrito, que o layout nacional exige.',
    ),
  ),
  city: v.optional(text('customer.address.city', { max: 60 }, 'Obrigatório: cidade.')),
  state: v.optional(
    text('customer.address.state', { max: 60 }, 'Obrigatório: estado, província ou região, em texto livre.'),
  ),
  postal_code: v.optional(
    text('customer.address.postal_code', { max: 11 }, 'Obrigatório: código postal, em formato livre.'),
  ),
  country: v.optional(
    codeText(
      'customer.address.country',
      'Obrigatório: país, código ISO 3166-1 alpha-2, duas letras maiúsculas, diferente de BR.',
    ),
  ),
});

/** What each type of customer means, in requests and in answers. */
export const CUSTOMER_TYPES = {
  br: 'Cliente no Brasil.',
  foreign: 'Cliente no exterior: a nota é uma exportação.',
} as const;

/** What each reason for a missing tax id means, in requests and in answers. */
export const ABSENCE_REASONS = {
  exempt: 'O cliente está dispensado de identificação fiscal.',
  not_required: 'O país do cliente não exige identificação fiscal.',
} as const;

export const customerInput = v.strictObject({
  type: v.optional(
    v.pipe(
      v.picklist(['br', 'foreign'], 'customer.type deve ser br ou foreign.'),
      v.description('Tipo do cliente; br quando não vem.'),
      v.metadata({ meanings: CUSTOMER_TYPES }),
    ),
  ),
  document: v.optional(
    v.pipe(
      v.string('customer.document deve ser um texto.'),
      v.regex(CUSTOMER_DOCUMENT, ({ input }) => (WITH_LETTERS.test(input) ? LETTERS_MESSAGE : DOCUMENT_MESSAGE)),
      v.description(
        'CPF (11 dígitos) ou CNPJ (14 dígitos), só dígitos. Sem ele o tomador não é identificado na nota; alguns municípios o exigem. Recusado com type foreign.',
      ),
    ),
  ),
  name: v.optional(
    text(
      'customer.name',
      { max: 300 },
      'Nome do cliente. Obrigatório com um CPF e com type foreign. Envie sempre também com um CNPJ: vale o nome do cadastro da Receita, mas quando ele não o informa e este campo falta, a nota acaba em failed. Sem document o nome não vai na nota: o tomador sai como não identificado.',
    ),
  ),
  tax_id: v.optional(
    text(
      'customer.tax_id',
      { max: 40 },
      'Identificação fiscal no exterior (NIF). Com type foreign é obrigatório este campo ou tax_id_absence_reason, nunca os dois.',
    ),
  ),
  tax_id_absence_reason: v.optional(
    v.pipe(
      v.picklist(['exempt', 'not_required'], 'customer.tax_id_absence_reason deve ser exempt ou not_required.'),
      v.description('Motivo de não haver tax_id.'),
      v.metadata({ meanings: ABSENCE_REASONS }),
    ),
  ),
  address: v.optional(addressInput),
});

/** The body of `POST /v1/nfse`. Rules across fields and registries come later. */
export const issueBody = v.strictObject({
  amount_in_cents: amount,
  description: text(
    'description',
    { max: MAX_DESCRIPTION },
    'Discriminação do serviço. Os marcadores {{data}}, {{mes}}, {{mes_extenso}}, {{mes_anterior}}, {{mes_anterior_extenso}} e {{ano}} são trocados pela data do recebimento.',
  ),
  customer: v.optional(customerInput),
  foreign_amount: v.optional(foreignAmountInput),
  reference: v.optional(
    referenceText(
      'reference',
      'Número da venda no seu sistema, sem espaços e único por empresa e modo, para sempre. Envie sempre: depois das 24 horas da Idempotency-Key, só ele impede uma segunda nota.',
    ),
  ),
  cnae: v.optional(
    v.pipe(
      v.string('cnae deve ser um texto.'),
      v.regex(/^[0-9]{7}$/, 'cnae deve ter exatamente 7 dígitos, sem pontos, barras ou traços.'),
      v.description(
        'CNAE da atividade do serviço prestado, entre os do cadastro da empresa, 7 dígitos. Sem ele vale a atividade principal; numa loja ela costuma ser comércio, que não tem código de serviço. Envie sempre cnae e service_code.',
      ),
    ),
  ),
  service_code: v.optional(
    v.pipe(
      v.string('service_code deve ser um texto.'),
      v.regex(/^[0-9]+$/, 'service_code deve ter só dígitos: o código nacional de 6 dígitos.'),
      v.description(
        'Código de tributação nacional (cTribNac), 6 dígitos. Com cnae, escolhe a linha exata; sozinho, a primeira linha com ele, que pode não ser a que você quer.',
      ),
    ),
  ),
});

export type IssueBody = v.InferOutput<typeof issueBody>;
