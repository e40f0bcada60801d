import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type CatalogueEntry, errorCatalogue } from '../../../src/domain/common/error-catalogue.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';

type Header = { required: boolean; schema: Schema };
type Media = { schema: Schema; examples?: Record<string, unknown> };
type ResponseObject = { headers: Record<string, { $ref: string }>; content: Record<string, Media> };
type Operation = { responses: Record<string, ResponseObject> };
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, Header> };
};

const document = openApiDocument('https://nfse.example') as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false, coerceTypes: false });
ajv.addSchema(document, 'api');

const templates = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^${path.replace('{id}', '[^/]+')}$`),
}));

/** Headers that only appear where the document has them. */
const DECLARED_HEADERS = [
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'location',
  'link',
  'cache-control',
  'x-content-type-options',
  'accept-ranges',
];

/** Throws when an answer is not one that the OpenAPI document gives for this route and status. `hasPages`: the service serves `/docs`. */
export const checkAnswer = async (
  target: string,
  method: string,
  response: Response,
  hasPages = true,
): Promise<void> => {
  const { pathname } = new URL(target, 'http://localhost');
  if (!pathname.startsWith('/v1') && [200, 301].includes(response.status)) return;
  const known = templates.find(({ pattern }) => pattern.test(pathname))?.path;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = known === undefined ? undefined : document.paths[known]?.[verb];
  const { status } = response;
  const at = `${method} ${pathname} ${status}`;
  const expected = operation === undefined ? unmatched(status) : operation.responses[status];
  if (expected === undefined) throw new Error(`${at}: the document has no such status`);
  const faults = [
    ...headerFaults(response, expected),
    ...(await bodyFaults(response, method, expected)),
    ...(await linkFaults(response, method, hasPages)),
  ];
  if (faults.length > 0) throw new Error(`${at} is not as documented:\n${faults.join('\n')}`);
};

/** The document has no place for the answer to a path that it does not have. */
const routeNotFound: ResponseObject = {
  headers: {
    'Request-Id': { $ref: '#/components/headers/RequestId' },
    Link: { $ref: '#/components/headers/ErrorPage' },
    'Cache-Control': { $ref: '#/components/headers/CacheControl' },
    'X-Content-Type-Options': { $ref: '#/components/headers/ContentTypeOptions' },
  },
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/ApiError' }, examples: { route_not_found: {} } },
  },
};

/** Under the kill switch, and while its state cannot be read, an unknown path answers like every route. */
const unmatched = (status: number): ResponseObject | undefined => {
  if (status === 404) return routeNotFound;
  return [500, 503].includes(status) ? document.paths['/v1/activities']?.get?.responses[status] : undefined;
};

const headerFaults = (response: Response, { headers }: ResponseObject): readonly string[] => {
  const declared = new Map(Object.entries(headers).map(([name, { $ref }]) => [name.toLowerCase(), headerAt($ref)]));
  const extra = DECLARED_HEADERS.filter((name) => response.headers.has(name) && !declared.has(name));
  return [
    ...extra.map((name) => `undeclared header ${name}`),
    ...[...declared].flatMap(([name, { required, schema }]) => {
      const value = response.headers.get(name);
      if (value === null) return required ? [`no header ${name}`] : [];
      const typed = schema.type === 'integer' && /^[0-9]+$/.test(value) ? Number(value) : value;
      return ajv.validate(schema, typed) ? [] : [`header ${name}: ${value}`];
    }),
  ];
};

const headerAt = (ref: string): Header => {
  const header = document.components.headers[ref.replace('#/components/headers/', '')];
  if (header === undefined) throw new Error(`no header ${ref}`);
  return header;
};

const bodyFaults = async (
  response: Response,
  method: string,
  { content }: ResponseObject,
): Promise<readonly string[]> => {
  const contentType = response.headers.get('content-type') ?? '';
  const media = content[contentType];
  if (media === undefined) return [`content type ${contentType}`];
  const body = await response.clone().text();
  if (method === 'HEAD') return body === '' ? [] : ['HEAD with a body'];
  if (contentType !== 'application/json') return [];
  const value: unknown = JSON.parse(body);
  const validate = validatorOf(media.schema.$ref ?? '');
  return [
    ...(validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)),
    ...orderFaults(value, media.schema, document.components.schemas),
    ...errorFaults(value, response, media),
  ];
};

/** Every error but 401 and 403 names the page of its code (HDR-Link). A HEAD has no body to compare with. */
const linkFaults = async (response: Response, method: string, hasPages: boolean): Promise<readonly string[]> => {
  const { status } = response;
  const link = response.headers.get('link');
  if (!hasPages || status < 400 || status === 401 || status === 403) return link === null ? [] : [`a Link: ${link}`];
  if (method === 'HEAD') return link === null ? ['no Link'] : [];
  const { error } = (await response.clone().json()) as ErrorBody;
  return link === `</docs/errors/${error.code}>; rel="help"` ? [] : [`Link: ${link}`];
};

const validators = new Map<string, ValidateFunction>();

const validatorOf = (ref: string): ValidateFunction => {
  const validate = validators.get(ref) ?? ajv.compile({ $ref: `api${ref}` });
  validators.set(ref, validate);
  return validate;
};

type ErrorBody = { error: { type: string; code: string; param?: string; retryable: boolean; request_id: string } };

/** The members of an error that differ from the catalogue's entry of its code. Only `nfse.not_issued` may vary in `retryable` (ERR-retryable). */
const errorFaults = (value: unknown, response: Response, { examples = {} }: Media): readonly string[] => {
  if (response.status < 400) return [];
  const { error } = value as ErrorBody;
  const entry = new Map<string, CatalogueEntry>(Object.entries(errorCatalogue)).get(error.code);
  const varies = error.code === 'nfse.not_issued';
  return [
    ...(Object.hasOwn(examples, error.code) ? [] : [`the code ${error.code} is not among the route's`]),
    ...(error.request_id === response.headers.get('request-id') ? [] : ['another request_id']),
    ...(entry?.type === error.type && entry.status === response.status ? [] : ['another type than the catalogue']),
    ...(entry?.param === undefined || entry.param === error.param ? [] : ['another param than the catalogue']),
    ...(varies || entry?.retryable === error.retryable ? [] : ['another retryable than the catalogue']),
  ];
};

type Schema = {
  type?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
};

/** One line for each object whose fields are not in the order of its schema, which is the order of the tables in docs/contract.md. */
const orderFaults = (
  value: unknown,
  schema: Schema | undefined,
  schemas: Readonly<Record<string, Schema>>,
): readonly string[] => {
  const { properties, items } = resolved(schema, schemas);
  if (Array.isArray(value)) return value.flatMap((item) => orderFaults(item, items, schemas));
  if (typeof value !== 'object' || value === null || properties === undefined) return [];
  const sent = Object.keys(value);
  const expected = Object.keys(properties).filter((name) => sent.includes(name));
  return [
    ...(sent.join() === expected.join() ? [] : [`fields ${sent.join()} instead of ${expected.join()}`]),
    ...Object.entries(value).flatMap(([name, field]) => orderFaults(field, properties[name], schemas)),
  ];
};

const resolved = (schema: Schema | undefined, schemas: Readonly<Record<string, Schema>>): Schema =>
  schema?.$ref === undefined ? (schema ?? {}) : (schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {});
