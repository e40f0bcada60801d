import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { collectionOf } from '../../../src/http/openapi/collection.js';
import { openApiDocument } from '../../../src/http/openapi/document.js';
import { attempted, authorized, BASE_URL, createHarness, type Harness } from '../../support/harness/http.js';
import { COLLECTION, readPage } from '../../tools/documents/pages.js';

type Pair = { key: string; value: string; disabled?: true };
type Item = {
  name: string;
  event?: readonly { script: { exec: readonly string[] } }[];
  request: {
    method: string;
    header: readonly Pair[];
    url: { raw: string; variable?: readonly Pair[] };
    body?: { raw: string };
  };
  response: readonly { code: number; body: string }[];
};
type Collection = {
  variable: readonly Pair[];
  auth: { bearer: readonly Pair[] };
  item: readonly { item: readonly Item[] }[];
};

const document = openApiDocument(BASE_URL) as { paths: Record<string, Record<string, { responses: object }>> };
const collection = collectionOf(document) as Collection;
const items = collection.item.flatMap(({ item }) => item);

const MARKERS = ['mes_extenso', 'ano'];

/** A client that sends requests of the collection as such programs do: with its variables and its scripts. */
const openSender = (harness: Harness) => {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  variables.set('key', harness.keys.test);
  const filled = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => {
      // A marker of the description looks like a variable; a name without a value is sent as it is.
      const value = MARKERS.includes(name) ? `{{${name}}}` : variables.get(name);
      if (value === undefined) throw new Error(`the collection has no variable ${name}`);
      return value;
    });
  const send = async ({ request, event = [] }: Item) => {
    const { method, header, url, body } = request;
    const path = (url.variable ?? []).reduce(
      (raw, { key, value }) => raw.replace(`:${key}`, value),
      url.raw.replace('{{baseUrl}}', ''),
    );
    const enabled = header.filter(({ disabled }) => disabled !== true);
    const headers = Object.fromEntries(enabled.map(({ key, value }) => [key.toLowerCase(), filled(value)]));
    const sent = body === undefined ? {} : { raw: filled(body.raw) };
    const response = await harness.call(filled(path), { method, headers, ...sent });
    const isJson = response.headers.get('content-type') === 'application/json';
    const answer: { id?: string } = isJson ? await response.json() : {};
    const pm = {
      response: { code: response.status, json: () => answer },
      collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
    };
    for (const { script } of event) runInNewContext(script.exec.join('\n'), { pm });
    return { status: response.status, id: answer.id };
  };
  return { variables, send };
};

const itemsOf = (method: string, path: string): readonly Item[] =>
  items.filter(({ request }) => request.method === method && request.url.raw.split('?')[0] === `{{baseUrl}}${path}`);

describe('the collection', () => {
  it('has a request for every route of the OpenAPI document, with every example of its body and of its success', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const own = itemsOf(method.toUpperCase(), path.replace('{id}', ':id'));
        expect([method, path, own.length > 0]).toEqual([method, path, true]);
        const examples = [...JSON.stringify({ ...operation, responses: {} }).matchAll(/"summary":"([^"]+)","value"/g)];
        expect(own.map(({ name }) => name).join('\n')).toMatch(
          new RegExp(examples.map(([, name]) => name).join('[^]*')),
        );
        for (const { response } of own)
          expect(response.every(({ code, body }) => code < 300 && JSON.parse(body))).toBe(true);
      }
    }
    expect(items).toHaveLength(10);
  });

  it('sends no optional header of itself, except the Idempotency-Key, which the guide asks for', () => {
    const issue = { '/v1/nfse': document.paths['/v1/nfse'] };
    const text = JSON.stringify({ ...document, paths: issue }).replace(
      '"parameters":[{"name":"Idempotency-Key"',
      `"parameters":[${JSON.stringify({ name: 'X-Shop', in: 'header', required: false, description: 'd', example: 'e' })},{"name":"Idempotency-Key"`,
    );
    const [first] = (collectionOf(JSON.parse(text)) as Collection).item.flatMap(({ item }) => item);
    expect(first?.request.header.map(({ key, disabled }) => [key, disabled === true])).toEqual([
      ['Content-Type', false],
      ['X-Shop', true],
      ['Idempotency-Key', false],
    ]);
  });

  it('cancels after everything that needs an invoice that stands', () => {
    const paths = items.map(({ request }) => request.url.raw.split('?')[0] ?? '');
    const cancels = paths.flatMap((path, index) => (path.endsWith('/cancel') ? [index] : []));
    const downloads = paths.flatMap((path, index) => (/\/(pdf|xml)$/.test(path) ? [index] : []));
    expect(Math.min(...cancels)).toBeGreaterThan(Math.max(...downloads));
  });

  it('names no key, and asks for it by a variable', () => {
    expect(collection.auth.bearer).toEqual([{ key: 'token', value: '{{key}}', type: 'string' }]);
    expect(readPage(COLLECTION)).not.toMatch(/svc_sk_(?:test|live)_\w/);
  });

  it('issues each invoice with its own reference, by which a lost answer is looked up', () => {
    const sent = itemsOf('POST', '/v1/nfse').map(({ request }) => JSON.parse(request.body?.raw ?? '{}').reference);
    expect(sent).toEqual(['{{reference}}-simples', '{{reference}}', '{{reference}}-exportacao']);
  });

  it('is accepted by the API, request for request, and a request that is sent twice issues once', async () => {
    const harness = createHarness();
    const { variables, send } = openSender(harness);
    const example = variables.get('id');
    const ids = new Set<string | undefined>();
    for (const item of itemsOf('POST', '/v1/nfse')) {
      const { status, id } = await send(item);
      expect([item.name, status, variables.get('id')]).toEqual([item.name, 202, id]);
      expect((await send(item)).id).toBe(id);
      ids.add(id);
    }
    expect([ids.size, ids.has(example)]).toEqual([3, false]);
    const { now } = harness.state;
    for (const id of ids) await harness.record(id ?? '', [attempted(now), authorized(now)]);
    const reads = items.filter(({ request }) => request.method === 'GET');
    expect(reads).toHaveLength(5);
    for (const item of reads) expect([item.name, (await send(item)).status]).toEqual([item.name, 200]);
    const [cancel] = itemsOf('POST', '/v1/nfse/:id/cancel');
    expect(cancel === undefined ? 0 : (await send(cancel)).status).toBe(202);
  });

  it('is served beside the reference, with the address of the service', async () => {
    const response = await createHarness().call('/docs/collection.json', { key: 'none' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(collection)));
    expect(collection.variable[0]).toMatchObject({ key: 'baseUrl', value: BASE_URL });
  });
});
