import type { Hono } from 'hono';
import { commonHeaders, refuse } from '../answer.js';
import type { Call } from '../call.js';
import type { HttpDeps } from '../deps.js';
import { endpoint, type Handler } from '../endpoint.js';
import { openApiDocument } from '../openapi/document.js';
import { loadAsset } from './assets.js';
import { errorIndexPage, errorPage, isErrorCode } from './error-pages.js';
import { referencePage } from './reference-page.js';

/** `/openapi.json` and `/docs`: outside `/v1`, without a credential or a quota, whatever the kill switch says. */
export const addDocs = (app: Hono, deps: HttpDeps): void => {
  const open: HttpDeps = { ...deps, apiSwitchedOff: async () => false };
  const get = (path: string, handler: Handler): unknown => app.get(path, endpoint(open, path, handler));
  const document = once(() => JSON.stringify(openApiDocument(deps.baseUrl)));
  const index = once(errorIndexPage);

  get('/openapi.json', (_c, call) => text(call, document(), 'application/json'));
  get('/docs', (_c, call) => text(call, referencePage(), HTML));
  get('/docs/errors', (_c, call) => text(call, index(), HTML));
  get('/docs/errors/:code', (c, call) => {
    const code = c.req.param('code') ?? '';
    return isErrorCode(code) ? text(call, errorPage(code), HTML) : refuse(call, { code: 'route_not_found' });
  });
  get('/docs/assets/:name', async (c, call) => {
    const asset = await loadAsset(c.req.param('name') ?? '');
    return asset === undefined
      ? refuse(call, { code: 'route_not_found' })
      : text(call, asset.content, asset.contentType);
  });
};

const HTML = 'text/html; charset=utf-8';

const text = (call: Call, body: string, contentType: string): Response =>
  new Response(body, {
    status: 200,
    headers: {
      ...commonHeaders(call),
      'Content-Type': contentType,
      'Cache-Control': 'public, max-age=300',
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    },
  });

/** Swagger UI draws its signs from `data:`. It sets styles by script only, element by element, which needs no leave. */
const POLICY =
  "default-src 'self'; style-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

/** Made when first asked for, so that a start costs nothing. */
const once = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};
