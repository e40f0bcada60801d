/** The parts of the OpenAPI document that a collection is made of. */
type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  example: string;
};
type Examples = Readonly<Record<string, { summary: string; value: Readonly<Record<string, unknown>> }>>;
type Media = { examples?: Examples };
type OperationObject = {
  tags: readonly [string];
  summary: string;
  description: string;
  parameters?: readonly Parameter[];
  requestBody?: { content: { 'application/json': Media } };
  responses: Readonly<Record<string, { content: Readonly<Record<string, Media>> }>>;
};
type Document = {
  info: { title: string; description: string };
  servers: readonly [{ url: string }];
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
};

/**
 * The API as a collection of Postman, version 2.1, which Bruno, Insomnia and others import too: a request for each example of each route of the OpenAPI
 * document. The variable `reference` gives each invoice its Idempotency-Key, so that a request that is sent twice issues once. Any other optional
 * header is switched off, because its example would go into the invoices of a reader who tries the requests.
 */
export const collectionOf = (openApi: object): object => {
  const { info, servers, tags, paths } = openApi as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return {
    info: { name: info.title, description: `${HINTS}\n\n${info.description}`, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: servers[0].url, description: 'Endereço do serviço, sem barra no fim.' },
      { key: 'key', value: '', description: 'svc_sk_test_… ou svc_sk_live_…' },
      ...variablesOf(operations.flatMap(({ operation }) => operation.parameters ?? [])),
    ],
    item: tags.map(({ name, description }) => ({
      name,
      description,
      item: inOrder(operations.filter(({ operation }) => operation.tags.includes(name))).flatMap(itemsOf),
    })),
  };
};

/** What changes an invoice comes last: sent from top to bottom, the downloads find an invoice that is not canceled. */
const inOrder = (routes: readonly Route[]): readonly Route[] => {
  const changes = ({ path, method }: Route): boolean => method !== 'GET' && path.includes('{');
  return [...routes.filter((route) => !changes(route)), ...routes.filter(changes)];
};

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

const HINTS = [
  'Preencha as variáveis baseUrl e key. Troque reference para cada nota nova: dela nasce a Idempotency-Key.',
  'Um 202 grava o id da nota na variável id, que as outras chamadas usam.',
  'Um marcador da descrição, como {{mes_extenso}}, parece uma variável e não é: sem valor na coleção, ele vai como está.',
].join(' ');

const IDEMPOTENCY_KEY = 'Idempotency-Key';

const variablesOf = (parameters: readonly Parameter[]): readonly object[] => {
  const named = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  named.delete(IDEMPOTENCY_KEY);
  return [...named.values()].map(({ name, description, example }) => ({ key: name, value: example, description }));
};

type Route = { path: string; method: string; operation: OperationObject };

/** One item, or one for each example of the body. */
const itemsOf = (route: Route): readonly object[] => {
  const { summary, requestBody } = route.operation;
  const examples = requestBody?.content['application/json'].examples;
  if (examples === undefined) return [itemOf(route, summary)];
  return Object.entries(examples).map(([name, example]) =>
    itemOf(route, `${summary}: ${example.summary}`, { name, value: example.value }),
  );
};

const itemOf = (
  { path, method, operation }: Route,
  name: string,
  example?: { name: string; value: Readonly<Record<string, unknown>> },
): object => {
  const { description, parameters = [] } = operation;
  const header = parameters
    .filter((parameter) => parameter.in === 'header')
    .map((parameter) => ({
      key: parameter.name,
      value: parameter.name === IDEMPOTENCY_KEY ? `{{reference}}-${example?.name}` : `{{${parameter.name}}}`,
      description: parameter.description,
      ...(parameter.required || parameter.name === IDEMPOTENCY_KEY ? {} : { disabled: true }),
    }));
  const isIssue = parameters.some((parameter) => parameter.name === IDEMPOTENCY_KEY);
  const type = example === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }];
  const request = {
    method,
    description,
    header: [...type, ...header],
    url: urlOf(path, parameters),
    ...(example === undefined
      ? {}
      : { body: bodyOf(isIssue ? { ...example.value, reference: referenceOf(example) } : example.value) }),
  };
  const event = '202' in operation.responses ? { event: [KEEP_ID] } : {};
  return { name, ...event, request, response: answersOf(operation) };
};

/** One of the invoices is that which the request by reference finds; the others take references beside the variable's. */
const referenceOf = ({ name, value }: { name: string; value: Readonly<Record<string, unknown>> }): string =>
  value.reference === undefined ? `{{reference}}-${name}` : '{{reference}}';

const bodyOf = (example: Readonly<Record<string, unknown>>): object => ({
  mode: 'raw',
  raw: JSON.stringify(example, null, 2),
  options: { raw: { language: 'json' } },
});

const urlOf = (path: string, parameters: readonly Parameter[]): object => {
  const inPlace = (place: Parameter['in']) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, description }) => ({ key: name, value: `{{${name}}}`, description }));
  const [variable, query] = [inPlace('path'), inPlace('query')];
  const colons = path.replaceAll(/\{(\w+)\}/g, ':$1');
  const asked = query.map(({ key, value }) => `${key}=${value}`).join('&');
  return {
    raw: `{{baseUrl}}${colons}${asked === '' ? '' : `?${asked}`}`,
    host: ['{{baseUrl}}'],
    path: colons.slice(1).split('/'),
    ...(query.length === 0 ? {} : { query }),
    ...(variable.length === 0 ? {} : { variable }),
  };
};

/** A script of the collection: keeps the id of the invoice for the other requests. */
const KEEP_ID = {
  listen: 'test',
  script: {
    type: 'text/javascript',
    exec: ["if (pm.response.code === 202) pm.collectionVariables.set('id', pm.response.json().id);"],
  },
};

/** The successful answers; the failures are too many, and have their pages. */
const answersOf = ({ responses }: OperationObject): readonly object[] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content }]) =>
      Object.entries(content['application/json']?.examples ?? {}).map(([name, { summary, value }]) => ({
        name: summary ?? name,
        code: Number(status),
        header: [{ key: 'Content-Type', value: 'application/json' }],
        _postman_previewlanguage: 'json',
        body: JSON.stringify(value, null, 2),
      })),
    );
