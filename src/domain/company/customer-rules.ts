import type { Customer, ForeignAddress, ForeignAmount } from '../invoice/facts.js';
import type { Refusal } from '../shared/error-catalogue.js';
import type { EligibilityFacts, IssueRequest } from './eligibility.js';

type Facts = Pick<EligibilityFacts, 'isCountry' | 'isCurrency' | 'currencies'>;
type Checked = { customer?: Customer; foreignAmount?: ForeignAmount } | { refused: Refusal };

/** Customer and foreign amount: type conflict, export complete, country, currency, amount, customer and name required. */
export const customerOf = (request: IssueRequest, facts: Facts, requiresCustomer: boolean): Checked => {
  const conflicting = conflictingFields(request);
  if (conflicting.length > 0) {
    const message = `Campos incompatíveis com o customer.type declarado: ${conflicting.join(', ')}. Remova-os ou corrija o tipo do cliente.`;
    return { refused: { code: 'nfse.customer_type_conflict', message, ...firstParam(conflicting) } };
  }
  return request.customer?.type === 'foreign'
    ? foreignCustomer(request, facts)
    : domesticCustomer(request, requiresCustomer);
};

const ADDRESS_FIELDS = {
  street: 'street',
  number: 'number',
  district: 'district',
  city: 'city',
  state: 'state',
  postalCode: 'postal_code',
  country: 'country',
} as const satisfies Record<keyof ForeignAddress, string>;

const conflictingFields = ({ customer, foreignAmount }: IssueRequest): string[] => {
  const present = (fields: Record<string, unknown>): string[] =>
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (customer?.type === 'foreign') return present({ 'customer.document': customer.document });
  return present({
    'customer.address': customer?.address,
    'customer.tax_id': customer?.taxId,
    'customer.tax_id_absence_reason': customer?.taxIdAbsenceReason,
    foreign_amount: foreignAmount,
  });
};

const foreignCustomer = (request: IssueRequest, facts: Facts): Checked => {
  const { customer, foreignAmount } = request;
  const missing = missingExportFields(request);
  if (missing.length > 0) {
    const message = `Faltam campos obrigatórios da exportação: ${missing.join(', ')}. Envie todos.`;
    return { refused: { code: 'nfse.export_incomplete', message, ...firstParam(missing) } };
  }
  const { name, taxId, taxIdAbsenceReason, address } = customer ?? {};
  if (address === undefined || !isComplete(address) || !facts.isCountry(address.country))
    return { refused: { code: 'nfse.country_unsupported' } };
  const { currency, amountInCents } = foreignAmount ?? {};
  if (currency === undefined || !facts.isCurrency(currency)) {
    const message = `A moeda não é aceita. Use um destes códigos: ${facts.currencies.join(', ')}.`;
    return { refused: { code: 'nfse.currency_unsupported', message } };
  }
  if (amountInCents === undefined || amountInCents <= 0) return { refused: { code: 'nfse.foreign_amount_invalid' } };
  return {
    customer: {
      type: 'foreign',
      ...(name === undefined ? {} : { name }),
      ...(taxId === undefined ? {} : { taxId }),
      ...(taxIdAbsenceReason === undefined ? {} : { taxIdAbsenceReason }),
      address,
    },
    foreignAmount: { currency, amountInCents },
  };
};

/** Everything required and absent, in one list (reading 39); an amount missing inside `foreign_amount` is its own code. */
const missingExportFields = ({ customer, foreignAmount }: IssueRequest): string[] => {
  const address = customer?.address;
  return [
    ...(customer?.name === undefined ? ['customer.name'] : []),
    ...(customer?.taxId === undefined && customer?.taxIdAbsenceReason === undefined ? ['customer.tax_id'] : []),
    ...(address === undefined ? ['customer.address'] : missingAddressFields(address)),
    ...(foreignAmount === undefined ? ['foreign_amount'] : []),
    ...(foreignAmount !== undefined && foreignAmount.currency === undefined ? ['foreign_amount.currency'] : []),
  ];
};

const missingAddressFields = (address: Partial<ForeignAddress>): string[] =>
  Object.entries(ADDRESS_FIELDS).flatMap(([key, name]) =>
    address[key as keyof ForeignAddress] === undefined ? [`customer.address.${name}`] : [],
  );

const isComplete = (address: Partial<ForeignAddress>): address is ForeignAddress =>
  missingAddressFields(address).length === 0;

const domesticCustomer = ({ customer }: IssueRequest, requiresCustomer: boolean): Checked => {
  if (requiresCustomer && customer?.document === undefined) return { refused: { code: 'nfse.customer_required' } };
  if (customer?.document?.length === 11 && customer.name === undefined)
    return { refused: { code: 'nfse.customer_name_required' } };
  if (customer === undefined || (customer.document === undefined && customer.name === undefined)) return {};
  const { document, name } = customer;
  return {
    customer: {
      type: 'br',
      ...(document === undefined ? {} : { document }),
      ...(name === undefined ? {} : { name }),
    },
  };
};

const firstParam = (fields: readonly string[]): { param?: string } =>
  fields[0] === undefined ? {} : { param: fields[0] };
