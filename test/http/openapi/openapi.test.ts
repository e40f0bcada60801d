import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { accessKeyCheckDigit, isAccessKey } from '../../../src/domain/common/access-key.js';
import { type ErrorCode, errorCatalogue } from '../../../src/domain/common/error-catalogue.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { routes } from '../../support/fixture/routes.js';
import { BASE_URL, createHarness } from '../../support/harness/http.js';
import { checkAnswer } from './check-answer.js';

const INVOICE_CODES = ['issue_failed', 'nfse.not_processed', 'nfse.issue_interrupted'];

type Media = { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> };
type Sets = { enum?: readonly string[]; anyOf?: readonly { enum?: readonly string[] }[] };
type Operation = {
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content: Record<string, Media> }>;
};
type Property = { description?: string; $ref?: string; type?: string; properties?: object; items?: object };
type Component = { description?: string; properties: Record<string, Property>; additionalProperties?: boolean };
type InvoiceSchema = { properties: Record<string, object> };
type Document = { openapi: string; info: { version: string }; paths: Record<string, Record<string, Operation>> };

const document = openApiDocument(BASE_URL) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
);

describe('GET /openapi.json', () => {
  it('is the document, without a credential and while the kill switch is on', async () => {
    const { call, state } = createHarness();
    state.switchedOff = true;
    const response = await call('/openapi.json', { key: 'none' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('ratelimit-limit')).toBeNull();
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('is valid OpenAPI 3.1.0 of the interface 1.0.0', async () => {
    const validator = new Validator();
    const checked = await validator.validate(structuredClone(document) as never);
    expect(checked).toEqual({ valid: true });
    expect({ openapi: document.openapi, version: document.info.version }).toEqual({
      openapi: '3.1.0',
      version: '1.0.0',
    });
  });

  it('names the guide as further documents, and no address of a contact', () => {
    expect(document).toMatchObject({ externalDocs: { description: 'Guia da API', url: `${BASE_URL}/docs/guia` } });
    expect(document.info).toHaveProperty('contact', { name: 'Quem opera este serviço' });
  });

  it('has the seven routes, all under /v1', () => {
    const expected = routes.map(({ template, json }) => `${json === undefined ? 'get' : 'post'} ${template}`);
    expect(operations.map(({ name }) => name.replace('{id}', ':id')).sort()).toEqual(expected.sort());
  });

  it('names every code of the catalogue', () => {
    const text = JSON.stringify(document);
    expect(Object.keys(errorCatalogue).filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });

  it('names every code at a route that may answer it, except that of an unknown route', () => {
    const text = JSON.stringify(operations.map(({ operation }) => operation.responses));
    const unnamed = Object.keys(errorCatalogue).filter((code) => !text.includes(`"${code}"`));
    expect(unnamed).toEqual(['route_not_found']);
  });

  it('names each 422 of the catalogue at one route', () => {
    const codes = Object.keys(errorCatalogue).filter((code) => errorCatalogue[code as ErrorCode].status === 422);
    const routesOf = (code: string): readonly string[] =>
      operations
        .filter(({ operation }) => JSON.stringify(operation.responses[422] ?? {}).includes(`"${code}"`))
        .map(({ name }) => name);
    const expected = codes.map((code) => [
      code,
      [code === 'nfse.cancel_window_closed' ? 'post /v1/nfse/{id}/cancel' : 'post /v1/nfse'],
    ]);
    expect(codes.map((code) => [code, routesOf(code)])).toEqual(expected);
  });

  it.each([
    ['post /v1/nfse', '202 400 401 403 409 413 415 422 429 500 503'],
    ['get /v1/nfse', '200 400 401 403 429 500 503'],
    ['get /v1/nfse/{id}', '200 400 401 403 404 429 500 503'],
    ['post /v1/nfse/{id}/cancel', '202 400 401 403 404 409 413 415 422 429 500 503'],
    ['get /v1/nfse/{id}/pdf', '200 400 401 403 404 409 429 500 503'],
    ['get /v1/nfse/{id}/xml', '200 400 401 403 404 409 429 500 503'],
    ['get /v1/activities', '200 401 403 429 500 503'],
  ])('%s answers %s', (name, statuses) => {
    const found = operations.find((operation) => operation.name === name);
    expect(Object.keys(found?.operation.responses ?? {}).join(' ')).toBe(`${statuses} default`);
  });

  it('has a default answer for what the server cannot read as a request, and says what HEAD is', () => {
    for (const { operation } of operations)
      expect(operation.responses.default).toMatchObject({
        description: expect.stringMatching(/408.*417.*431/),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ApiError' } } },
      });
    expect(document.info).toMatchObject({ description: expect.stringContaining('menos HEAD nas rotas de GET') });
  });

  it('accepts every access key that an invoice can have, also of a CNPJ with letters', () => {
    const { schemas } = (document as unknown as { components: { schemas: Record<string, InvoiceSchema> } }).components;
    const matches = new Ajv2020().compile(schemas.Invoice?.properties.access_key ?? false);
    for (const cnpj of ['12345678000195', '12ABC34501DE35']) {
      const first49 = `330455722${cnpj}000000000001626111234567890`.slice(0, 49);
      const key = `${first49}${accessKeyCheckDigit(first49)}`;
      expect([isAccessKey(key), matches(key)]).toEqual([true, true]);
    }
    expect(matches(`${'A'.repeat(9)}${'1'.repeat(41)}`)).toBe(false);
  });

  const { schemas } = (document as unknown as { components: { schemas: Record<string, Component> } }).components;

  it.each(Object.entries(schemas))(
    '%s: a description of it and of each property, and no object without a name',
    (_name, schema) => {
      expect(schema.description).toMatch(/\S/);
      const faults = Object.entries(schema.properties).filter(([, { description, $ref, properties, items }]) => {
        const named =
          $ref === undefined ? description : schemas[$ref.replace('#/components/schemas/', '')]?.description;
        const isNamed = properties === undefined && (items === undefined || '$ref' in items);
        return named === undefined || !isNamed;
      });
      expect(faults).toEqual([]);
    },
  );

  it('says that the authorizer adds IBS and CBS to the amount, only where the note declares them', () => {
    const texts = Object.values(schemas).map(({ properties }) => properties.amount_in_cents?.description ?? '');
    const [text, ...others] = texts.filter((one) => one.includes('IBS'));
    expect(others).toEqual([]);
    expect(text).toMatch(
      /^Valor bruto .* sem descontar nenhuma retenção.*2027 ou posterior que declara IBS e CBS, .* decida com o contador\.$/,
    );
  });

  it('explains each value of a set, and leaves open the sets that may grow (VER-2, VER-4)', () => {
    const sets = Object.values(schemas).flatMap(({ properties }) =>
      Object.entries(properties).flatMap(([name, property]) => {
        const { description = '', enum: closed, anyOf } = property as Property & Sets;
        const values = closed ?? anyOf?.[0]?.enum;
        return values === undefined ? [] : [{ name, description, values, open: anyOf?.[1] }];
      }),
    );
    for (const { values, description } of sets)
      for (const value of values) expect(description).toMatch(new RegExp(`^- \`${value}\`: \\S`, 'm'));
    expect(sets.filter(({ open }) => open !== undefined)).toEqual([
      expect.objectContaining({ name: 'status', open: { type: 'string' } }),
      expect.objectContaining({ name: 'code', values: INVOICE_CODES, open: { type: 'string' } }),
      expect.objectContaining({ name: 'code', values: Object.keys(errorCatalogue), open: { type: 'string' } }),
    ]);
    expect(sets.length).toBeGreaterThan(8);
  });

  it('says that a canceled invoice may have been replaced by a valid one', () => {
    for (const name of ['Invoice', 'Cancellation']) {
      const { status } = schemas[name]?.properties ?? {};
      expect(status?.description).toMatch(/^- `(?:canceled|succeeded)`: .*a nota que a substituiu vale/m);
    }
  });

  it('names the number of 32 at the PDF only', () => {
    const remarks = operations.map(
      ({ name, operation }) => [name, JSON.stringify(operation.responses['503'])] as const,
    );
    const bounded = remarks.filter(([, text]) => /máximo 32/.test(text)).map(([name]) => name);
    expect(bounded).toEqual(['get /v1/nfse/{id}/pdf']);
  });

  it('takes new fields in answers and refuses unknown ones in requests (VER-7)', () => {
    const closed = Object.entries(schemas).filter(([, { additionalProperties }]) => additionalProperties === false);
    expect(closed.map(([name]) => name)).toEqual([
      'IssueRequest',
      'IssueCustomer',
      'IssueAddress',
      'IssueForeignAmount',
      'CancelRequest',
    ]);
  });

  it('shows an invoice in every state', () => {
    const read = operations.find(({ name }) => name === 'get /v1/nfse/{id}')?.operation.responses[200];
    const examples = Object.values(read?.content['application/json']?.examples ?? {});
    const shown = examples.map(({ value }) => value as { status: string; cancellation?: { status: string } });
    expect([...new Set(shown.map(({ status }) => status))].toSorted()).toEqual([
      'canceled',
      'failed',
      'indeterminate',
      'issued',
      'processing',
      'queued',
    ]);
    expect(shown.flatMap(({ cancellation }) => cancellation?.status ?? []).toSorted()).toEqual([
      'failed',
      'pending',
      'succeeded',
    ]);
  });

  it('has examples that keep its own schemas', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const media = operations.flatMap(({ operation: { requestBody, responses } }) =>
      [...(requestBody === undefined ? [] : [requestBody]), ...Object.values(responses)].flatMap(({ content }) =>
        Object.values(content),
      ),
    );
    const { components } = document as unknown as { components: object };
    const faults = media.flatMap(({ schema, example, examples = {} }) => {
      const validate = ajv.compile({ ...schema, components });
      const values = [
        ...(example === undefined ? [] : [example]),
        ...Object.values(examples).map(({ value }) => value),
      ];
      return values.filter((value) => !validate(value)).map((value) => ({ value, errors: validate.errors }));
    });
    expect(faults).toEqual([]);
    expect(media.length).toBeGreaterThan(50);
  });
});

describe('the check of every answer', () => {
  const headers = {
    'content-type': 'application/json',
    'request-id': 'req_1',
    'ratelimit-limit': '300',
    'ratelimit-remaining': '299',
    'ratelimit-reset': '60',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  const list = { object: 'list', livemode: false, has_more: false, data: [] };
  const answer = (body: unknown, changes: Record<string, string> = {}, status = 200): Response =>
    new Response(JSON.stringify(body), { status, headers: { ...headers, ...changes } });
  const check = (response: Response): Promise<void> => checkAnswer('/v1/nfse?reference=r', 'GET', response);

  it('takes a good one', async () => {
    await expect(check(answer(list))).resolves.toBeUndefined();
  });

  it.each([
    ['an unknown field', answer({ ...list, total: 0 })],
    ['a missing field', answer({ object: 'list', has_more: false, data: [] })],
    ['null for an absent field', answer({ ...list, livemode: null })],
    ['another order', answer({ data: [], object: 'list', livemode: false, has_more: false })],
    ['another content type', answer(list, { 'content-type': 'text/html' })],
    ['a rate header that is no number', answer(list, { 'ratelimit-reset': 'soon' })],
    ['an answer that a cache may keep', answer(list, { 'cache-control': 'max-age=60' })],
    ['a header that belongs to a file', answer(list, { 'accept-ranges': 'none' })],
    ['a header that belongs to another status', answer(list, { location: '/v1/nfse/x' })],
    ['a status of no route', answer(list, {}, 418)],
  ])('refuses %s', async (_what, response) => {
    await expect(check(response)).rejects.toThrow(/document/);
  });

  it('refuses an answer without a header that belongs to it', async () => {
    const response = answer(list);
    response.headers.delete('request-id');
    await expect(check(response)).rejects.toThrow('no header request-id');
  });
});
