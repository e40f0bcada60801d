import { type JsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { cancelBody } from '../body/cancel-schema.js';
import { addressInput, customerInput, foreignAmountInput, issueBody } from '../body/issue-schema.js';
import {
  activityListResponse,
  activityResponse,
  addressResponse,
  cancellationErrorResponse,
  cancellationResponse,
  customerResponse,
  errorCauseResponse,
  errorDetailsResponse,
  errorResponse,
  foreignAmountResponse,
  invoiceErrorResponse,
  invoiceListResponse,
  invoiceResponse,
  linksResponse,
} from './schemas.js';

/** Every object of the API by its name in generated clients, with the schema that the handlers use. */
const schemas = {
  IssueRequest: issueBody,
  IssueCustomer: customerInput,
  IssueAddress: addressInput,
  IssueForeignAmount: foreignAmountInput,
  CancelRequest: cancelBody,
  Invoice: invoiceResponse,
  Customer: customerResponse,
  Address: addressResponse,
  ForeignAmount: foreignAmountResponse,
  Cancellation: cancellationResponse,
  CancellationError: cancellationErrorResponse,
  InvoiceError: invoiceErrorResponse,
  Links: linksResponse,
  InvoiceList: invoiceListResponse,
  Activity: activityResponse,
  ActivityList: activityListResponse,
  ApiError: errorResponse,
  ApiErrorDetails: errorDetailsResponse,
  ApiErrorCause: errorCauseResponse,
} as const;

type SchemaName = keyof typeof schemas;

const descriptions: Readonly<Record<SchemaName, string>> = {
  IssueRequest: 'Corpo da emissão. Só os dois primeiros campos são sempre obrigatórios.',
  IssueCustomer:
    'Cliente da nota. Com type foreign são obrigatórios name, address, um de tax_id e tax_id_absence_reason, e foreign_amount na requisição; ' +
    'document é recusado. Com br, ou sem type, valem só document e name.',
  IssueAddress: 'Endereço no exterior, completo: os sete campos são obrigatórios.',
  IssueForeignAmount: 'Valor na moeda estrangeira. Os dois campos são obrigatórios. Nada é convertido.',
  CancelRequest: 'Corpo do cancelamento. {} basta.',
  Invoice: 'Uma nota. Campos que não se aplicam ficam ausentes, nunca null; campos novos podem aparecer.',
  Customer: 'Cliente da nota, como registrado. Ausente quando a nota não tem cliente.',
  Address: 'Endereço no exterior. Só no cliente do exterior.',
  ForeignAmount: 'Valor na moeda estrangeira. Só nas exportações.',
  Cancellation: 'Pedido de cancelamento. Ausente até haver um.',
  CancellationError: 'Por que o cancelamento não foi confirmado. Só com cancellation.status failed.',
  InvoiceError: 'Por que a nota não foi emitida. Só com status failed e indeterminate.',
  Links: 'Links de download. Só em issued e canceled, com uma chave de escopo nfse:read. Cada leitura dá links novos.',
  InvoiceList: 'Lista de notas.',
  Activity: 'Uma linha que a empresa pode emitir.',
  ActivityList: 'Lista de atividades.',
  ApiError: 'O envelope de todo erro.',
  ApiErrorDetails: 'O erro. Decida por code e por retryable.',
  ApiErrorCause: 'Uma causa da recusa de um corpo.',
};

/** A reference to a schema in the document's components. */
export const ref = (schema: SchemaName): { $ref: string } => ({ $ref: `#/components/schemas/${schema}` });

/**
 * The schemas as JSON Schema 2020-12; an object inside of another is a reference. Rules written as code appear through the metadata beside
 * them (`integer`, lengths in code points, ranges); rules that only code can express are in the descriptions.
 */
export const schemaComponents = (): Readonly<Record<string, JsonSchema>> => {
  const converted = toJsonSchemaDefs(schemas, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['check', 'raw_check'],
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema, jsonSchema }) => typed(valibotSchema, jsonSchema),
    overrideAction: ({ valibotAction, jsonSchema: soFar }) =>
      isMetadata(valibotAction) ? keywordsOf({ ...soFar, ...valibotAction.metadata }) : undefined,
  });
  return Object.fromEntries(
    Object.entries(converted).map(([name, schema]) => [
      name,
      { description: descriptions[name as SchemaName], ...schema },
    ]),
  );
};

/** Generators of clients need the type of a constant too. */
const typed = (schema: v.GenericSchema, jsonSchema: JsonSchema): JsonSchema | undefined =>
  schema.type === 'literal' ? { type: typeof jsonSchema.const as 'string' | 'boolean', ...jsonSchema } : undefined;

/** This project's own words; `meanings` and `open` as in `oneOf`. All others are JSON Schema keywords. */
type OwnMetadata = { integer?: boolean; meanings?: Readonly<Record<string, string>>; open?: boolean };

type Metadata = { type: 'metadata'; metadata: OwnMetadata & Readonly<Record<string, unknown>> };

const isMetadata = (action: object): action is Metadata => 'type' in action && action.type === 'metadata';

/** The largest amount needs 64 bits, so clients in other languages must not take a smaller integer. */
const keywordsOf = ({ integer, meanings, open, ...keywords }: Metadata['metadata']): JsonSchema => {
  if (meanings !== undefined) return enumOf(keywords, meanings, open === true);
  return integer === true ? { ...keywords, type: 'integer', format: 'int64' } : keywords;
};

/** An open set is one of the known values or any other text. */
const enumOf = (
  { description, ...known }: JsonSchema,
  meanings: Readonly<Record<string, string>>,
  open: boolean,
): JsonSchema => {
  const values = Object.entries(meanings).map(([value, meaning]) => `- \`${value}\`: ${meaning}`);
  const described = { description: [description, ...values].join('\n') };
  return open ? { ...described, anyOf: [known, { type: 'string' }] } : { ...described, ...known };
};
