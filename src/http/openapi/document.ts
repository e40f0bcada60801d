import { MAX_REFERENCE } from '../body/text.js';
import { codeSamples } from './code-samples.js';
import { ref, schemaComponents } from './components.js';
import { cancelExamples, EXAMPLE_KEY, issueExamples } from './examples.js';
import { headerComponents } from './headers.js';
import { EXAMPLE_ID } from './invoice-examples.js';
import { type Operation, opensWithToken, operations } from './operations.js';
import { responsesOf } from './responses.js';

/**
 * The API as OpenAPI 3.1.0 (VER-1), from the schemas and the catalogue that the handlers use. `baseUrl` is the service's origin, without a
 * trailing slash.
 */
export const openApiDocument = (baseUrl: string): object => ({
  openapi: '3.1.0',
  info: {
    title: 'Emissão de NFS-e',
    version: '1.0.0',
    description: OVERVIEW,
    // Without an address: the reference page would show one beside the title, like the address of the API.
    contact: { name: 'Quem opera este serviço' },
  },
  externalDocs: { description: 'Guia da API', url: `${baseUrl}/docs/guia` },
  servers: [{ url: baseUrl }],
  security: [{ chave: [] }],
  tags: [
    { name: INVOICES, description: 'Emitir, consultar, cancelar e baixar notas.' },
    { name: ACTIVITIES, description: 'O que a empresa pode emitir.' },
  ],
  paths: pathsOf(baseUrl),
  components: {
    schemas: schemaComponents(),
    headers: headerComponents,
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

const INVOICES = 'Notas';
const ACTIVITIES = 'Atividades';

const OVERVIEW = [
  'Emite, consulta, cancela e baixa notas fiscais de serviço (NFS-e) pelo sistema nacional.',
  'A chave decide o modo: svc_sk_test_ emite em produção restrita, sem valor fiscal; svc_sk_live_ emite de verdade.',
  'Valores são inteiros em centavos; instantes são ISO 8601 em UTC; campos que não se aplicam ficam ausentes.',
  'Toda falha usa o mesmo envelope; cada código tem a sua página em [/docs/errors](/docs/errors). Todo caminho ou método que não está neste documento, menos HEAD nas rotas de GET, responde 404 `route_not_found`.',
  'Campos, códigos de erro e valores de status podem ser acrescentados: ignore um campo desconhecido, e trate um status desconhecido como indeterminate.',
].join('\n\n');

const pathsOf = (baseUrl: string): object => {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation, baseUrl) };
  return paths;
};

const operationObject = (operation: Operation, baseUrl: string): object => ({
  operationId: operation.operationId,
  tags: [operation.path.startsWith('/v1/nfse') ? INVOICES : ACTIVITIES],
  summary: operation.summary,
  description: operation.description,
  ...(opensWithToken(operation) ? { security: [{ chave: [] }, { link: [] }] } : {}),
  ...parametersOf(operation),
  ...(operation.body === undefined ? {} : { requestBody: requestBodies[operation.body] }),
  responses: responsesOf(operation, baseUrl),
  'x-codeSamples': codeSamples(operation, baseUrl),
});

const requestBodies = {
  issue: {
    description: 'A nota a emitir.',
    required: true,
    content: { 'application/json': { schema: ref('IssueRequest'), examples: issueExamples } },
  },
  cancel: {
    description: 'O motivo do cancelamento; {} basta.',
    required: true,
    content: { 'application/json': { schema: ref('CancelRequest'), examples: cancelExamples } },
  },
};

const idParameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'nfse_{uuid}, ou só o UUID.',
  schema: { type: 'string' },
  example: EXAMPLE_ID,
};

const referenceParameter = {
  name: 'reference',
  in: 'query',
  required: true,
  description: 'A reference enviada na emissão, codificada para a URL em UTF-8 (um + sem codificação é um espaço).',
  schema: { type: 'string', minLength: 1, maxLength: MAX_REFERENCE },
  example: 'pedido-1042',
};

const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Um valor novo por nota: 1 a 255 caracteres ASCII visíveis, sem dados pessoais. Vale por 24 horas; depois disso a mesma chave emite outra nota, e só reference ainda protege.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
  example: EXAMPLE_KEY,
};

const parametersOf = ({ path, operationId }: Operation): { parameters?: readonly object[] } => {
  if (path.includes('{id}')) return { parameters: [idParameter] };
  if (operationId === 'find_nfse') return { parameters: [referenceParameter] };
  return operationId === 'issue_nfse' ? { parameters: [idempotencyKeyParameter] } : {};
};
