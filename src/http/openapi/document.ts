import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { type ErrorCode, errorCatalogue } from '../../domain/common/error-catalogue.js';
import { cancelBody, issueBody } from '../body/issue-schema.js';
import { MAX_REFERENCE } from '../body/text.js';
import { cancelExamples, errorExample, issueExamples } from './examples.js';
import { EXAMPLE_ID } from './invoice-examples.js';
import { commonCodes, type Operation, opensWithToken, operations } from './operations.js';
import { ref, responseHeaders, routeNotFoundHeaders, successResponse } from './responses.js';
import { activityListResponse, errorResponse, invoiceListResponse, invoiceResponse } from './schemas.js';

/**
 * The API as OpenAPI 3.1.0 (VER-1), from the schemas and the catalogue that the handlers use. `baseUrl` is the service's origin, without a
 * trailing slash.
 */
export const openApiDocument = (baseUrl: string): object => ({
  openapi: '3.1.0',
  info: { title: 'Emissão de NFS-e', version: '1.0.0', description: OVERVIEW },
  servers: [{ url: baseUrl }],
  security: [{ chave: [] }],
  tags: [{ name: 'Notas' }, { name: 'Atividades' }],
  paths: pathsOf(baseUrl),
  components: {
    schemas: {
      IssueRequest: jsonSchemaOf(issueBody),
      CancelRequest: jsonSchemaOf(cancelBody),
      Invoice: jsonSchemaOf(invoiceResponse),
      InvoiceList: jsonSchemaOf(invoiceListResponse),
      ActivityList: jsonSchemaOf(activityListResponse),
      Error: jsonSchemaOf(errorResponse),
    },
    responses: {
      RouteNotFound: {
        description: 'Todo caminho ou método que não está neste documento.',
        headers: routeNotFoundHeaders,
        content: errorContent(['route_not_found']),
      },
    },
    securitySchemes: {
      chave: {
        type: 'http',
        scheme: 'bearer',
        description: 'Authorization: Bearer svc_sk_test_... (teste) ou svc_sk_live_... (produção).',
      },
      link: { type: 'apiKey', in: 'query', name: 't', description: 'Token de links.pdf e links.xml: 15 minutos.' },
    },
  },
});

const OVERVIEW = [
  'Emite, consulta, cancela e baixa notas fiscais de serviço (NFS-e) pelo sistema nacional.',
  'A chave decide o modo: svc_sk_test_ emite em produção restrita, sem valor fiscal; svc_sk_live_ emite de verdade.',
  'Valores são inteiros em centavos; instantes são ISO 8601 em UTC; campos que não se aplicam ficam ausentes.',
  'Toda falha usa o mesmo envelope; cada código tem a sua página em [/docs/errors](/docs/errors).',
].join('\n\n');

const pathsOf = (baseUrl: string): object => {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation, baseUrl) };
  return paths;
};

const operationObject = (operation: Operation, baseUrl: string): object => ({
  operationId: operation.operationId,
  tags: [operation.path.startsWith('/v1/nfse') ? 'Notas' : 'Atividades'],
  summary: operation.summary,
  description: operation.description,
  ...(opensWithToken(operation) ? { security: [{ chave: [] }, { link: [] }] } : {}),
  ...parametersOf(operation),
  ...(operation.body === undefined ? {} : { requestBody: requestBodies[operation.body] }),
  responses: { ...successResponse(operation, baseUrl), ...errorResponses(operation) },
});

const requestBodies = {
  issue: {
    required: true,
    content: { 'application/json': { schema: ref('IssueRequest'), examples: issueExamples } },
  },
  cancel: {
    required: true,
    content: { 'application/json': { schema: ref('CancelRequest'), examples: cancelExamples } },
  },
};

const idParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'nfse_<uuid>, ou só o UUID.',
  schema: { type: 'string' },
  example: EXAMPLE_ID,
};

const referenceParameter = {
  name: 'reference',
  in: 'query',
  required: true,
  description: 'A reference enviada na emissão.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_REFERENCE },
};

const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Um valor novo por nota: 1 a 255 caracteres ASCII visíveis, sem dados pessoais. Vale por 24 horas.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
};

const parametersOf = ({ path, operationId }: Operation): { parameters?: readonly object[] } => {
  if (path.includes('{id}')) return { parameters: [idParameter] };
  if (operationId === 'find_nfse') return { parameters: [referenceParameter] };
  return operationId === 'issue_nfse' ? { parameters: [idempotencyKeyParameter] } : {};
};

const errorResponses = (operation: Operation): object => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...operation.codes, ...commonCodes]) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `[\`${code}\`](/docs/errors/${code})`).join(', '),
        headers: responseHeaders(status, operation),
        content: errorContent(codes),
      },
    ]),
  );
};

/** The codes of this route and status; clients must expect new ones (VER-2). */
function errorContent(codes: readonly ErrorCode[]): object {
  const narrowed = { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } };
  return {
    'application/json': {
      schema: { allOf: [ref('Error'), narrowed] },
      examples: Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }])),
    },
  };
}

/**
 * A handler's schema as JSON Schema 2020-12, without `$schema`. Rules written as code appear through the metadata beside them (`integer`,
 * lengths in code points, ranges); rules that only code can express are in the descriptions.
 */
const jsonSchemaOf = (schema: v.GenericSchema): JsonSchema => {
  const { $schema: _dialect, ...jsonSchema } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['check', 'raw_check'],
    overrideAction: ({ valibotAction, jsonSchema: soFar }) =>
      isMetadata(valibotAction) ? keywordsOf({ ...soFar, ...valibotAction.metadata }) : undefined,
  });
  return jsonSchema;
};

type Metadata = { type: 'metadata'; metadata: Readonly<Record<string, unknown>> };

const isMetadata = (action: object): action is Metadata => 'type' in action && action.type === 'metadata';

/** `integer` is this project's metadata, not a JSON Schema keyword. */
const keywordsOf = ({ integer, ...keywords }: Readonly<Record<string, unknown>>): JsonSchema =>
  integer === true ? { ...keywords, type: 'integer' } : keywords;
