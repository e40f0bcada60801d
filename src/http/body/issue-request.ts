import type { Cause, Refusal } from '../../domain/common/error-catalogue.js';
import { expandMarkers } from '../../domain/common/markers.js';
import { present } from '../../domain/common/present.js';
import type { Instant } from '../../domain/common/time.js';
import type { IssueRequest } from '../../domain/company/eligibility.js';
import { bodyRefusal, checkBody } from './check.js';
import { DOCUMENT_MESSAGE, type IssueBody, issueBody, LETTERS_MESSAGE, MAX_DESCRIPTION } from './issue-schema.js';
import { isObject, type JsonBody } from './read-json-object.js';
import { isLongerThan } from './text.js';

/** All 400 rules of the issue route (docs/contract.md, "POST /v1/nfse: issue"): the schema, field combinations, and the expanded markers. */
export const issueRequestOf = (
  body: JsonBody,
  receivedAt: Instant,
): { request: IssueRequest } | { refused: Refusal } => {
  const checked = checkBody(issueBody, body);
  const causes = [
    ...('causes' in checked ? checked.causes : []),
    ...contradictions(body),
    ...expandedTooLong(body, receivedAt),
  ];
  if (causes.length === 0 && 'value' in checked) return { request: requestOf(checked.value) };
  const [only] = causes;
  const documentAlone = causes.length === 1 && isAboutDocument(only);
  return { refused: bodyRefusal(documentAlone ? 'nfse.customer_document_invalid' : 'invalid_request', causes) };
};

const isAboutDocument = (cause: Cause | undefined): boolean =>
  cause?.message === DOCUMENT_MESSAGE || cause?.message === LETTERS_MESSAGE;

/** `tax_id` and `tax_id_absence_reason` exclude each other (POSTC-tax_id). */
const contradictions = ({ customer }: JsonBody): readonly Cause[] => {
  if (!isObject(customer) || !Object.hasOwn(customer, 'tax_id') || !Object.hasOwn(customer, 'tax_id_absence_reason'))
    return [];
  const message = 'customer.tax_id e customer.tax_id_absence_reason se contradizem: envie só um dos dois.';
  return [{ param: 'customer.tax_id', message }];
};

/** The limit also holds after the markers are expanded (POST-description). A text too long before that has its cause already. */
const expandedTooLong = ({ description }: JsonBody, receivedAt: Instant): readonly Cause[] => {
  // Only `{{data}}` grows, from 8 characters to 10.
  if (typeof description !== 'string' || description.length * 1.25 <= MAX_DESCRIPTION) return [];
  if (isLongerThan(MAX_DESCRIPTION, description)) return [];
  if (!isLongerThan(MAX_DESCRIPTION, expandMarkers(description, receivedAt))) return [];
  const message = `description deve ter no máximo ${MAX_DESCRIPTION} caracteres também depois da troca dos marcadores.`;
  return [{ param: 'description', message }];
};

const requestOf = (body: IssueBody): IssueRequest => {
  const { customer, foreign_amount: foreign } = body;
  const sendsCustomer = customer !== undefined && Object.keys(customer).length > 0;
  return present({
    amountInCents: body.amount_in_cents,
    description: body.description,
    customer: sendsCustomer ? customerOf(customer) : undefined,
    foreignAmount:
      foreign === undefined
        ? undefined
        : present({ currency: foreign.currency, amountInCents: foreign.amount_in_cents }),
    reference: body.reference,
    cnae: body.cnae,
    serviceCode: body.service_code,
  });
};

const customerOf = (customer: NonNullable<IssueBody['customer']>): NonNullable<IssueRequest['customer']> => {
  const { address } = customer;
  return present({
    type: customer.type,
    document: customer.document,
    name: customer.name,
    taxId: customer.tax_id,
    taxIdAbsenceReason: customer.tax_id_absence_reason,
    address: address === undefined ? undefined : addressOf(address),
  });
};

const addressOf = ({ postal_code: postalCode, ...address }: SentAddress) => present({ ...address, postalCode });

type SentAddress = NonNullable<NonNullable<IssueBody['customer']>['address']>;
